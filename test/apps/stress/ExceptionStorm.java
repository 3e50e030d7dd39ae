// SPDX-License-Identifier: Apache-2.0
package app;

/** ExceptionStorm TIMES DEPTH: TIMES exceptions, each through DEPTH frames. */
public final class ExceptionStorm {
  static final RuntimeException SHARED = new IllegalStateException("on purpose");
  static int cleaned;

  static void down(int n) {
    if (n == 0) throw SHARED; // 4 bytecodes
    down(n - 1); // 2 + 4 bytecodes, return is never reached
  }

  static void fresh(int n) {
    try {
      if (n == 0) throw new IllegalStateException(); // 2 + 4 bytecodes and what the constructor does
      fresh(n - 1); // 2 + 4
    } finally {
      cleaned++; // astore, getstatic, iconst, iadd, putstatic, aload, athrow: 7
    }
  }

  public static void main(String[] args) {
    final int times = Integer.parseInt(args[0]);
    final int depth = Integer.parseInt(args[1]);
    int caught = 0;
    for (int i = 0; i < times; i++) {
      try {
        down(depth);
      } catch (IllegalStateException e) {
        caught++;
      }
    }
    for (int i = 0; i < times / 10; i++) {
      try {
        fresh(depth);
      } catch (IllegalStateException e) {
        caught++;
      }
    }
    System.out.println("caught " + caught + ", cleaned " + cleaned);
  }
}
