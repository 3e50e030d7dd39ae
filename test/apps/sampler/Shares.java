// SPDX-License-Identifier: Apache-2.0
package app;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Shares SECONDS THREADS DEPTH: each thread burns so much CPU time in four methods, 10, 20, 30 and 40 percent of it, below
 * DEPTH frames of a recursion. The unit of work is the same multiplication everywhere, so the shares are known by
 * construction.
 */
public final class Shares {
  private static final int UNIT = 2_000;
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  private Shares() {}

  static long work(long x, int units) {
    for (int i = 0; i < units * UNIT; i++) x = x * 6364136223846793005L + 1442695040888963407L;
    return x;
  }

  static long ten(long x) {
    return work(x, 10) + 1;
  }

  static long twenty(long x) {
    return work(x, 20) + 2;
  }

  static long thirty(long x) {
    return work(x, 30) + 3;
  }

  static long forty(long x) {
    return work(x, 40) + 4;
  }

  /** CPU time and not time: on a busy machine there are as many samples as on an idle one. */
  static long burn(long cpuNs) {
    long x = 1;
    while (CLOCK.getCurrentThreadCpuTime() < cpuNs) x = forty(thirty(twenty(ten(x))));
    return x;
  }

  static long nest(int depth, long cpuNs) {
    return depth == 0 ? burn(cpuNs) : nest(depth - 1, cpuNs) + 1;
  }

  public static void main(String[] args) throws InterruptedException {
    final long cpuNs = (long) (Double.parseDouble(args[0]) * 1e9);
    final Thread[] threads = new Thread[Integer.parseInt(args[1])];
    final int depth = Integer.parseInt(args[2]);
    final long[] results = new long[threads.length];
    for (int i = 0; i < threads.length; i++) {
      final int index = i;
      threads[i] = new Thread(() -> results[index] = nest(depth, cpuNs), "burner-" + i);
      threads[i].start();
    }
    for (Thread thread : threads) thread.join();
    System.out.println("done");
  }
}
