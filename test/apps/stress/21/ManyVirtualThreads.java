// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/** ManyVirtualThreads THREADS CALLS together|stream: each calls step() CALLS times, all alive at once or a hundred. */
public final class ManyVirtualThreads {
  static final AtomicLong SUM = new AtomicLong();

  static int leaf(int x) {
    return x * 31 + 7; // 6 bytecodes
  }

  static int step(int x) {
    return leaf(x) + leaf(x + 1); // 8 bytecodes
  }

  static void work(int calls) {
    int x = 1;
    for (int i = 0; i < calls; i++) {
      x = step(x);
      if (i == calls / 2) Thread.yield();
    }
    SUM.addAndGet(x);
  }

  public static void main(String[] args) throws InterruptedException {
    final Thread[] threads = new Thread[Integer.parseInt(args[0])];
    final int calls = Integer.parseInt(args[1]);
    final boolean together = args[2].equals("together");
    final CountDownLatch start = new CountDownLatch(1);
    final Semaphore alive = new Semaphore(100);
    for (int i = 0; i < threads.length; i++) {
      if (!together) alive.acquire();
      threads[i] = Thread.startVirtualThread(new Runnable() {
        @Override
        public void run() {
          work(calls / 2);
          if (together) {
            try {
              start.await();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          }
          work(calls - calls / 2);
          alive.release();
        }
      });
    }
    start.countDown();
    for (Thread thread : threads) thread.join();
    System.out.println("sum " + SUM.get());
  }
}
