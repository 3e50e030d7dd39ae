// SPDX-License-Identifier: Apache-2.0
package app;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Garbage SECONDS: keeps the collector busy for so much CPU time of its own and says how much CPU time its threads used, as the kernel counts it:
 * "collector 1230 ms".
 */
public final class Garbage {
  private Garbage() {}

  static long collectorMillis() throws IOException {
    long ticks = 0;
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
      for (Path task : tasks) {
        final String stat = Files.readString(task.resolve("stat"));
        final int end = stat.lastIndexOf(')');
        if (!stat.substring(stat.indexOf('(') + 1, end).startsWith("GC Thread")) continue;
        final String[] fields = stat.substring(end + 2).split(" ");
        ticks += Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
      }
    }
    return ticks * 10;
  }

  public static void main(String[] args) throws IOException {
    final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    final long end = (long) (Double.parseDouble(args[0]) * 1e9);
    final Deque<byte[][]> kept = new ArrayDeque<>();
    while (clock.getCurrentThreadCpuTime() < end) {
      final byte[][] small = new byte[1000][];
      for (int i = 0; i < small.length; i++) small[i] = new byte[64];
      kept.add(small);
      if (kept.size() > 400) kept.remove();
    }
    System.out.println("collector " + collectorMillis() + " ms");
    System.out.println("done");
  }
}
