// SPDX-License-Identifier: Apache-2.0
package app;

/** StackOverflow TIMES: runs out of stack TIMES times, and works as before afterwards. */
public final class StackOverflow {
  static int depth;

  static int forever(int n) {
    depth++;
    return forever(n + 1) + leaf(n);
  }

  static int withFinally(int n) {
    try {
      return withFinally(n + 1) + 1;
    } finally {
      depth++;
    }
  }

  static int leaf(int x) {
    return x * 31 + 7;
  }

  static int after(int x) {
    return leaf(x) + 1;
  }

  public static void main(String[] args) {
    int caught = 0;
    for (int i = 0; i < Integer.parseInt(args[0]); i++) {
      try {
        if (i % 2 == 0) forever(0);
        else withFinally(0);
      } catch (StackOverflowError expected) {
        caught++;
      }
    }
    int x = 0;
    for (int i = 0; i < 1000; i++) x = after(x);
    System.out.println("caught " + caught + (depth > 1000 ? ", deep" : ", only " + depth + " deep") + ", x " + x);
  }
}
