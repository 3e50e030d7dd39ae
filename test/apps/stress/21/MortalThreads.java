// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * MortalThreads one DEPTH: virtual threads that call down(DEPTH), one after the other until the program is killed; each
 * prints its number. MortalThreads parked DEPTH THREADS: so many at once, all parked at that depth before they end.
 */
public final class MortalThreads {
  static final AtomicLong SUM = new AtomicLong();

  static int down(int n) {
    return n == 0 ? 1 : down(n - 1) + 1; // 9 bytecodes, 4 at the end
  }

  static int downAndWait(int n, CountDownLatch arrived, CountDownLatch start) {
    if (n != 0) return downAndWait(n - 1, arrived, start) + 1;
    arrived.countDown();
    try {
      start.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return 1;
  }

  static void one(int depth) throws InterruptedException {
    for (int i = 1; ; i++) {
      Thread.startVirtualThread(() -> SUM.addAndGet(down(depth))).join();
      System.out.println(i);
    }
  }

  static void parked(int depth, int threads) throws InterruptedException {
    final CountDownLatch arrived = new CountDownLatch(threads);
    final CountDownLatch start = new CountDownLatch(1);
    final Thread[] all = new Thread[threads];
    for (int i = 0; i < threads; i++) {
      all[i] = Thread.startVirtualThread(() -> SUM.addAndGet(downAndWait(depth, arrived, start)));
    }
    arrived.await();
    start.countDown();
    for (Thread thread : all) thread.join();
    System.out.println("sum " + SUM.get());
  }

  public static void main(String[] args) throws InterruptedException {
    final int depth = Integer.parseInt(args[1]);
    if (args[0].equals("one")) one(depth);
    parked(depth, Integer.parseInt(args[2]));
  }
}
