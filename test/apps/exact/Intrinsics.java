// SPDX-License-Identifier: Apache-2.0
package app;

/** Calls methods that the JIT compiler replaces, often enough that it does. */
public class Intrinsics {
  static final int ROUNDS = 50_000;

  static long round(int i) {
    long sum = Math.max(i, 7) + Integer.bitCount(i) + Math.addExact(i, 1) + "abcdefgh".indexOf("gh");
    sum += Long.numberOfTrailingZeros(i | 8) + Integer.valueOf(i).hashCode() + (long) Math.sin(i);
    String text = new StringBuilder().append(i).append('c').toString();
    return text.equals("12c") ? sum + 1 : sum;
  }

  public static void main(String[] args) {
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) sum += round(i);
    System.out.println("Intrinsics " + sum);
  }
}
