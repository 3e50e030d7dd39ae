// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.ArrayList;
import java.util.List;

/** Virtual SECONDS THREADS: virtual threads that burn CPU time at the end of some calls and yield now and then. */
public final class Virtual {
  private Virtual() {}

  static long burn(long end) {
    long x = 1;
    while (System.nanoTime() < end) {
      for (int i = 0; i < 100_000; i++) x = x * 31 + i;
      Thread.yield();
    }
    return x;
  }

  static long down(int depth, long end) {
    return depth == 0 ? burn(end) : down(depth - 1, end) + 1;
  }

  public static void main(String[] args) throws InterruptedException {
    final long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
    final List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(args[1]); i++) {
      threads.add(Thread.ofVirtual().name("virtual-" + i).start(() -> down(5, end)));
    }
    for (Thread thread : threads) thread.join();
    System.out.println("done");
  }
}
