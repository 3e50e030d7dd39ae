// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.Comparator;
import java.util.concurrent.Callable;
import java.util.function.Function;

/** Default methods, diamonds with X.super.m(), bridges of covariant returns and of generics, raw types. */
public class DefaultBridge {
  interface Left { default int m(int n) { return n + 1; } }

  interface Right { default int m(int n) { return n + 2; } }

  static class Both implements Left, Right {
    public int m(int n) { return Left.super.m(n) * Right.super.m(n); }
  }

  abstract static class Animal {
    abstract Animal self();

    Number weight() { return 1; }
  }

  static class Dog extends Animal {
    @Override Dog self() { return this; }

    @Override Integer weight() { return 30 + super.weight().intValue(); }
  }

  static class Length implements Function<String, Integer>, Comparator<String>, Callable<String> {
    public Integer apply(String s) { return s.length(); }

    public int compare(String a, String b) { return a.length() - b.length(); }

    public String call() { return "called"; }
  }

  static class Cell<T extends Comparable<T>> {
    T value;

    void set(T value) { this.value = value; }
  }

  static class IntCell extends Cell<Integer> {
    @Override void set(Integer value) { super.set(value + 1); }
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  public static void main(String[] args) throws Exception {
    int sum = new Both().m(3);
    Left left = new Both();
    sum += left.m(4);
    left = new Left() {};
    sum += left.m(5);
    Animal animal = new Dog();
    sum += animal.self().weight().intValue();
    Length length = new Length();
    Function<String, Integer> function = length;
    Comparator<String> comparator = length;
    Callable<?> callable = length;
    sum += function.apply("four") + comparator.compare("a", "bcd") + callable.call().hashCode();
    sum += comparator.reversed().compare("a", "bcd");
    Cell raw = new IntCell();
    raw.set(41);
    sum += (Integer) raw.value;
    try {
      raw.set("not a number");
    } catch (ClassCastException e) {
      sum += 1000;
    }
    try {
      ((Function) length).apply(7);
    } catch (ClassCastException e) {
      sum += 10000;
    }
    System.out.println("DefaultBridge " + sum);
  }
}
