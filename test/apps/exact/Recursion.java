// SPDX-License-Identifier: Apache-2.0
package app;

/** Direct, mutual, void (nothing but the return differs), three-way and exceptional recursion. */
public class Recursion {
  static int left;

  static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

  static boolean even(int n) { return n == 0 || odd(n - 1); }

  static boolean odd(int n) { return n != 0 && even(n - 1); }

  static void countDown() { if (left-- > 0) countDown(); }

  static int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
  }

  int visit(int depth, Recursion other) {
    if (depth == 0) return 1;
    return other.visit(depth - 1, this) + (depth % 3 == 0 ? visit(depth - 2, other) : 0);
  }

  static int unwind(int depth, int catchAt) {
    try {
      if (depth == 0) throw new RuntimeException("bottom");
      return unwind(depth - 1, catchAt) + 1;
    } catch (RuntimeException e) {
      if (depth != catchAt) throw e;
      return depth * 100;
    }
  }

  public static void main(String[] args) {
    int sum = fib(9);
    for (int n = 0; n < 12; n++) sum += even(n) ? n : -1;
    left = 30;
    countDown();
    sum += ackermann(2, 2) + new Recursion().visit(9, new Recursion());
    for (int catchAt = 0; catchAt < 8; catchAt += 3) sum = sum * 7 + unwind(8, catchAt);
    System.out.println("Recursion " + sum);
  }
}
