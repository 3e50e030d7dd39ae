// SPDX-License-Identifier: Apache-2.0
package app;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Order CPU-SECONDS: does nothing but call and return: first() calls second() only, second() third(), third() fourth(), and
 * fourth() first(), twice each, down to a depth that changes. Their frames differ in size. A stack in which another method
 * follows than that never was.
 */
public final class Order {
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
  private Order() {}

  static long first(int level, long a) {
    if (level == 0) return a;
    return second(level - 1, a + 1) + second(level - 1, a * 3);
  }

  static long second(int level, long a) {
    if (level == 0) return a;
    final long b = a * 7;
    final long c = a ^ 0x55;
    return third(level - 1, a + 2) + b + third(level - 1, c) * c + b;
  }

  static long third(int level, long a) {
    if (level == 0) return a;
    final long b = a * 7;
    final long c = a ^ 0x55;
    final long d = a >> 3;
    final long e = a + 99;
    return fourth(level - 1, a + 2) + b * d + fourth(level - 1, c) * c + b * e - d;
  }

  static long fourth(int level, long a) {
    if (level == 0) return a;
    final long b = a * 7;
    return first(level - 1, a + 2) + ((a & 1) == 0 ? first(level - 1, b) : aside(level - 1, b)) * b;
  }

  /** Moves all frames that follow by its own size. */
  static long aside(int level, long a) {
    return first(level, a + 5) ^ a;
  }

  public static void main(String[] args) {
    final long end = (long) (Double.parseDouble(args[0]) * 1e9);
    long x = 1;
    for (int i = 0; CLOCK.getCurrentThreadCpuTime() < end; i++) x += (i & 1) == 0 ? first(9 + i % 4, x) : aside(9 + i % 4, x);
    System.out.println(x == 0 ? "zero" : "done");
  }
}
