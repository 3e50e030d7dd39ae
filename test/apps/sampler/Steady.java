// SPDX-License-Identifier: Apache-2.0
package app;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;

/**
 * Steady ROUNDS: the same work again and again, which needs no memory and takes about 30 ms. Prints the least CPU time of
 * a round, of its thread, and the mean of all that the process used for it, both in microseconds.
 */
public final class Steady {
  private static final int WARM = 20;

  private static long x = 1;

  private Steady() {}

  private static void work() {
    long y = x;
    for (int i = 0; i < 40_000_000; i++) y = y * 31 + 7;
    x = y;
  }

  public static void main(String[] args) {
    final var threads = ManagementFactory.getThreadMXBean();
    final var process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    for (int i = 0; i < WARM; i++) work();
    final long[] times = new long[Integer.parseInt(args[0])];
    final long before = process.getProcessCpuTime();
    for (int i = 0; i < times.length; i++) {
      final long start = threads.getCurrentThreadCpuTime();
      work();
      times[i] = threads.getCurrentThreadCpuTime() - start;
    }
    final long used = process.getProcessCpuTime() - before;
    final long least = Arrays.stream(times).min().orElseThrow();
    System.out.printf("done least %d process %d %d%n", least / 1000, used / times.length / 1000, x);
  }
}
