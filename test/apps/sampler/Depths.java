// SPDX-License-Identifier: Apache-2.0
package app;

/** Depths SECONDS DEPTH: burns CPU time at the end of DEPTH calls that the compiler does not inline into one frame. */
public final class Depths {
  private Depths() {}

  static long burn(long end) {
    long x = 1;
    while (System.nanoTime() < end) {
      for (int i = 0; i < 10_000; i++) x = x * 31 + i;
    }
    return x;
  }

  static long down(int depth, long end) {
    return depth == 0 ? burn(end) : down(depth - 1, end) + 1;
  }

  public static void main(String[] args) {
    final int depth = Integer.parseInt(args[1]) - 2;  // main and burn are there, too
    // Short rounds first: the frames are to be those of compiled code.
    for (int i = 0; i < 20_000; i++) down(depth, 0);
    System.out.println(down(depth, System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9)) == 0 ? "zero" : "done");
  }
}
