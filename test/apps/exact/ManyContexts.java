// SPDX-License-Identifier: Apache-2.0
package app;

/** More calling contexts than a cache of them has room for, each of them more than once. */
public final class ManyContexts {
  static int left(int n) {
    if (n == 0) return leaf(1);
    return left(n - 1) * 3 + right(n - 1);
  }

  static int right(int n) {
    if (n == 0) return leaf(2);
    return right(n - 1) * 5 + left(n - 1);
  }

  static int leaf(int n) {
    return n * 7 + 1;
  }

  public static void main(String[] args) {
    final int depth = args.length == 0 ? 13 : Integer.parseInt(args[0]);
    final int times = args.length == 0 ? 3 : Integer.parseInt(args[1]);
    int x = 0;
    for (int i = 0; i < times; i++) x = x * 31 + left(depth);
    System.out.println("ManyContexts " + x);
  }
}
