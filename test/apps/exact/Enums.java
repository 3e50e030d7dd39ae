// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.EnumMap;
import java.util.EnumSet;

/** Enums with bodies, constructors, abstract methods, static fields; values, valueOf, EnumMap and EnumSet. */
public class Enums {
  enum Op {
    ADD("+") { int apply(int a, int b) { return a + b; } },
    SUB("-") { int apply(int a, int b) { return a - b; } },
    DIV("/") { int apply(int a, int b) { return a / b; }

      @Override boolean partial() { return true; } };

    static final int COUNT = values().length;
    final String sign;

    Op(String sign) { this.sign = sign; }

    abstract int apply(int a, int b);

    boolean partial() { return false; }
  }

  enum Single { INSTANCE; int state; int next() { return ++state; } }

  interface Priced { int price(); }

  enum Fruit implements Priced {
    APPLE, PEAR;

    public int price() { return ordinal() * 10 + name().length(); }
  }

  public static void main(String[] args) {
    int sum = Op.COUNT;
    for (Op op : Op.values()) {
      try {
        sum = sum * 3 + op.apply(7, 2) + op.apply(1, 0) + op.sign.charAt(0);
      } catch (ArithmeticException e) {
        sum += op.partial() ? 1000 : 5000;
      }
    }
    try {
      sum += Op.valueOf("MUL").ordinal();
    } catch (IllegalArgumentException e) {
      sum += Op.valueOf("SUB").ordinal();
    }
    EnumMap<Fruit, Integer> map = new EnumMap<>(Fruit.class);
    for (Fruit f : EnumSet.allOf(Fruit.class)) map.put(f, f.price() + Single.INSTANCE.next());
    for (Priced p : map.keySet()) sum += p.price() * map.get(p);
    System.out.println("Enums " + sum);
  }
}
