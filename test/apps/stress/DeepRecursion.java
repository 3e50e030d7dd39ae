// SPDX-License-Identifier: Apache-2.0
package app;

/** DeepRecursion DEPTH TIMES: calls itself DEPTH deep, TIMES times. */
public final class DeepRecursion {
  static int down(int n) {
    return n == 0 ? 1 : down(n - 1) + 1; // 9 bytecodes; at the bottom 5
  }

  public static void main(String[] args) {
    final int depth = Integer.parseInt(args[0]);
    final int times = Integer.parseInt(args[1]);
    int sum = 0;
    for (int i = 0; i < times; i++) sum += down(depth);
    System.out.println("sum " + sum);
  }
}
