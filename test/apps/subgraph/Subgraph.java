// SPDX-License-Identifier: Apache-2.0
package app;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
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
  static final Method REFLECTED;
  static final MethodHandle HANDLE;

  static {
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
      sum += many(n, 2L, 3.0, "four") + exceptions(n) + sorted(n);
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
