// SPDX-License-Identifier: Apache-2.0
package app;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Deep MILLISECONDS DEPTH: a recursion so deep, which burns so much CPU time at every thousandth level. */
public final class Deep {
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  private Deep() {}

  static long burn(long cpuNs) {
    final long end = CLOCK.getCurrentThreadCpuTime() + cpuNs;
    long x = 1;
    while (CLOCK.getCurrentThreadCpuTime() < end) {
      for (int i = 0; i < 1000; i++) x = x * 6364136223846793005L + 1442695040888963407L;
    }
    return x;
  }

  static long down(int depth, long cpuNs) {
    if (depth == 0) return 1;
    return (depth % 1000 == 0 ? burn(cpuNs) : 0) + down(depth - 1, cpuNs) + 1;
  }

  public static void main(String[] args) throws InterruptedException {
    final long cpuNs = Long.parseLong(args[0]) * 1_000_000;
    final Thread thread =
        new Thread(null, () -> down(Integer.parseInt(args[1]), cpuNs), "deep", 512L << 20);
    thread.start();
    thread.join();
    System.out.println("done");
  }
}
