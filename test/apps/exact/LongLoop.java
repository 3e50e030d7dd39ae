// SPDX-License-Identifier: Apache-2.0
package app;

/** 100,000 iterations of a small body in one invocation: on-stack replacement, counters in loops. */
public class LongLoop {
  static int step(int x) { return x ^ x >>> 7; }

  static int loop(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) x = x * 31 + i;
    return x;
  }

  static int loopWithCalls(int n) {
    int x = 1;
    while (n-- > 0) x += step(x + n);
    return x;
  }

  public static void main(String[] args) {
    System.out.println("LongLoop " + (loop(100_000) + loopWithCalls(20_000)));
  }
}
