// SPDX-License-Identifier: Apache-2.0
package app;

/** Three methods that execute one, two and five parts of the bytecodes, in turn, by loops of the same body. */
public final class Shares {
  private static final int PART = 40;

  static int one(int x) {
    return burn1(x, PART);
  }

  static int burn1(int x, int times) {
    for (int i = 0; i < times; i++) x = x * 31 + i;
    return x;
  }

  static int burn2(int x, int times) {
    for (int i = 0; i < times; i++) x = x * 31 + i;
    return x;
  }

  static int burn5(int x, int times) {
    for (int i = 0; i < times; i++) x = x * 31 + i;
    return x;
  }

  public static void main(String[] args) {
    int x = 1;
    for (int i = 0; i < 500; i++) {
      x = one(x);
      x = burn2(x, 2 * PART);
      x = burn5(x, 5 * PART);
    }
    System.out.println("Shares " + x);
  }
}
