// SPDX-License-Identifier: Apache-2.0
package app;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.IntBinaryOperator;
import java.util.function.IntUnaryOperator;

/**
 * A root whose callees are called in known numbers: Subgraph.task, by each of some threads so many times. What it calls is
 * called from outside as well, which must not count. Arguments: threads, calls by each.
 */
public final class Subgraph {
  interface Shape {
    int area(int n);

    default int twice(int n) {
      return 2 * area(n);
    }
  }

  static final class Square implements Shape {
    @Override
    public int area(int n) {
      return n * n;
    }
  }

  static final class Circle implements Shape {
    @Override
    public int area(int n) {
      return 3 * n * n;
    }
  }

  /** Never an instance of it is made. */
  static final class Unused implements Shape {
    @Override
    public int area(int n) {
      return neverCalled(n);
    }
  }

  static int neverCalled(int n) {
    return n;
  }

  /** Loaded by the first call of the root, not before. */
  static final class Late {
    static int value(int n) {
      return n + 7;
    }
  }

  /** Loaded late as well, and more than two words are passed: the receiver is not looked at. */
  abstract static class Wide {
    abstract int wide(int n, long m, int k);
  }

  static final class First extends Wide {
    @Override
    int wide(int n, long m, int k) {
      return n + k;
    }
  }

  static final class Second extends Wide {
    @Override
    int wide(int n, long m, int k) {
      return n - k;
    }
  }

  interface Sized {
    int sized(int n, long m, int k);
  }

  /** Does not know the interface that a class below it implements. */
  static class Plain {
    public int sized(int n, long m, int k) {
      return n * k;
    }
  }

  static final class Both extends Plain implements Sized {}

  interface Top {
    default int chosen(int n) {
      return neverCalled(n);
    }
  }

  interface Bottom extends Top {
    @Override
    default int chosen(int n) {
      return n + 3;
    }
  }

  static final class Diamond implements Top, Bottom {}

  /** Made outside of the root; the JDK calls its methods. */
  static final class Key {
    private final int size;

    Key(int size) {
      this.size = size;
    }

    @Override
    public int hashCode() {
      return size;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key && ((Key) other).size == size;
    }

    @Override
    public String toString() {
      return "key";
    }
  }

  static final class BySize implements Comparator<Key> {
    @Override
    public int compare(Key a, Key b) {
      return a.size - b.size;
    }
  }

  static final class Numbers extends AbstractCollection<Integer> {
    @Override
    public int size() {
      return 2;
    }

    @Override
    public Iterator<Integer> iterator() {
      return new Each();
    }
  }

  static final class Each implements Iterator<Integer> {
    private int next;

    @Override
    public boolean hasNext() {
      return next < 2;
    }

    @Override
    public Integer next() {
      return next++;
    }
  }

  static class Base {
    Base(int n) {
      if (n % 2 == 0) throw new IllegalStateException();
    }
  }

  static final class Derived extends Base {
    Derived(int n) {
      super(check(n));
    }

    static int check(int n) {
      return n;
    }
  }

  static final Shape[] SHAPES = {new Square(), new Circle()};
  static final IntUnaryOperator MADE_OUTSIDE = n -> Subgraph.inLambda(n);
  static final Consumer<Integer> TAKES = n -> Subgraph.taken(n);
  static final Key[] KEYS = {new Key(0), new Key(1)};
  static final Key OTHER = new Key(1);
  static final Comparator<Key> BY_SIZE = new BySize();
  static final Map<Key, Integer> TABLE = new HashMap<>();
  static final List<Integer> LIST = List.of(1, 2);
  static final Numbers NUMBERS = new Numbers();
  static final Diamond DIAMOND = new Diamond();
  static final Method REFLECTED;
  static final MethodHandle HANDLE;

  static {
    for (Key key : KEYS) TABLE.put(key, key.size);
    try {
      REFLECTED = Subgraph.class.getDeclaredMethod("reflected", int.class);
      HANDLE = MethodHandles.lookup().findStatic(Subgraph.class, "handled", MethodType.methodType(int.class, int.class));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  static int leaf(int n) {
    return n * 31 + 7;
  }

  static int inner(int n) {
    return leaf(n) + leaf(n + 1);
  }

  /** Takes microseconds. */
  static int heavy(int n) {
    for (int i = 0; i < 3000; i++) n = n * 1103515245 + 12345;
    return n & 1;
  }

  static int recursive(int n) {
    return n == 0 ? 0 : 1 + recursive(n - 1);
  }

  static int odd(int n) {
    return n == 0 ? 0 : even(n - 1);
  }

  static int even(int n) {
    return n == 0 ? 1 : odd(n - 1);
  }

  static int inLambda(int n) {
    return n ^ 5;
  }

  static int reflected(int n) {
    return n + 1;
  }

  static int handled(int n) {
    return n + 2;
  }

  static int many(int a, long b, double c, String d) {
    return a + (int) b + (int) c + d.length();
  }

  static int throwing(int n) {
    if (n % 2 == 0) throw new IllegalArgumentException();
    return n;
  }

  static int passing(int n) {
    return throwing(n) + 1;
  }

  static int exceptions(int n) {
    int sum = 0;
    for (int i = 0; i < 4; i++) {
      try {
        sum += passing(n + i);
      } catch (IllegalArgumentException e) {
        sum -= leaf(i);
      }
      try {
        sum += new Derived(n + i).hashCode() == 0 ? 1 : 2;
      } catch (IllegalStateException e) {
        sum -= leaf(i);
      }
    }
    return sum;
  }

  static int shapes(int n) {
    int sum = 0;
    for (int i = 0; i < 6; i++) sum += SHAPES[i % 2].area(n);
    return sum + SHAPES[0].twice(n);
  }

  static int lambdas(int n) {
    final IntBinaryOperator made = (a, b) -> inLambda(a) + b;
    return made.applyAsInt(n, 1) + MADE_OUTSIDE.applyAsInt(n);
  }

  static void taken(int n) {}

  static int callbacks(int n) {
    final Map<Key, Integer> sorted = new TreeMap<>(BY_SIZE);
    for (Key key : KEYS) sorted.put(key, n);
    LIST.forEach(TAKES);
    final StringBuilder text = new StringBuilder("a ").append((Object) OTHER);
    return sorted.size() + TABLE.get(OTHER) + ("a " + OTHER).length() + text.length() + new ArrayList<>(NUMBERS).size();
  }

  static Wide wide(int i) {
    return i == 0 ? new First() : new Second();
  }

  static int wides(int n) {
    int sum = 0;
    for (int i = 0; i < 2; i++) sum += wide(i).wide(n, 1L, i);
    final Sized sized = new Both();
    return sum + sized.sized(n, 2L, 3) + DIAMOND.chosen(n);
  }

  static int sorted(int n) {
    final List<Integer> list = new ArrayList<>(List.of(3, 1, 2));
    list.sort(
        new Comparator<Integer>() {
          @Override
          public int compare(Integer a, Integer b) {
            return Integer.compare(a, b);
          }
        });
    return list.get(0) + n;
  }

  static int reflection(int n) throws Throwable {
    return (int) REFLECTED.invoke(null, n) + (int) HANDLE.invokeExact(n);
  }

  static int task(int n) {
    try {
      int sum = inner(n) + shapes(n) + recursive(5) + odd(4) + Late.value(n) + lambdas(n) + reflection(n);
      sum += many(n, 2L, 3.0, "four") + exceptions(n) + sorted(n) + callbacks(n) + wides(n) + heavy(n);
      if (n % 10 == 9) throw new IllegalStateException("every tenth");
      return sum;
    } catch (RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  static long run(int calls) {
    long sum = 0;
    for (int i = 0; i < calls; i++) {
      try {
        sum += task(i);
      } catch (IllegalStateException e) {
        sum += 1;
      }
      sum += inner(i) + SHAPES[i % 2].area(i); // outside
    }
    return sum;
  }

  public static void main(String[] args) throws Exception {
    Class.forName("app.Subgraph$Unused");
    final int threads = Integer.parseInt(args[0]);
    final int calls = Integer.parseInt(args[1]);
    final long[] sums = new long[threads];
    final Thread[] workers = new Thread[threads];
    for (int i = 0; i < threads; i++) {
      final int number = i;
      workers[i] = new Thread(() -> sums[number] = run(calls), "worker-" + i);
      workers[i].start();
    }
    long sum = 0;
    for (int i = 0; i < threads; i++) {
      workers[i].join();
      sum += sums[i];
    }
    System.out.println("done " + sum);
  }
}
