// SPDX-License-Identifier: Apache-2.0
package app;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Callers CPU-SECONDS: goes down 60 calls of left() again and again, with a single right() among them: in each round in another
 * place, and burnK() at the end says in which. All frames are of the same size, so each round's lie where those of the round
 * before lay.
 */
public final class Callers {
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
  private static final int LEVELS = 60;

  private Callers() {}

  private static long burn(long x) {
    for (int i = 0; i < 40_000; i++) x = x * 31 + i;
    return x;
  }

  static long burn0(long x) {
    return burn(x);
  }

  static long burn1(long x) {
    return burn(x);
  }

  static long burn2(long x) {
    return burn(x);
  }

  static long burn3(long x) {
    return burn(x);
  }

  static long end(int turn, long x) {
    switch (turn) {
      case 5:
        return burn0(x);
      case 20:
        return burn1(x);
      case 40:
        return burn2(x);
      default:
        return burn3(x);
    }
  }

  static long left(int level, int turn, long x) {
    if (level == 0) return end(turn, x);
    return 1 + (level == turn ? right(level - 1, turn, x) : left(level - 1, turn, x));
  }

  static long right(int level, int turn, long x) {
    if (level == 0) return end(turn, x);
    return 1 + (level == turn ? right(level - 1, turn, x) : left(level - 1, turn, x));
  }

  public static void main(String[] args) {
    final long end = (long) (Double.parseDouble(args[0]) * 1e9);
    final int[] turns = {5, 20, 40, 59};
    long x = 1;
    for (int i = 0; CLOCK.getCurrentThreadCpuTime() < end; i++) x += left(LEVELS, turns[i % 4], x);
    System.out.println(x == 0 ? "zero" : "done");
  }
}
