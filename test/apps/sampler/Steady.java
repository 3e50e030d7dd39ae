// SPDX-License-Identifier: Apache-2.0
package app;

/** The same work again and again, without end, which needs no memory and takes about 30 ms. */
public final class Steady {
  private static long x = 1;

  private Steady() {}

  private static void work() {
    long y = x;
    for (int i = 0; i < 40_000_000; i++) y = y * 31 + 7;
    x = y;
  }

  public static void main(String[] args) {
    for (int i = 1; ; i++) {
      work();
      System.out.println("iter " + i + " " + x);
    }
  }
}
