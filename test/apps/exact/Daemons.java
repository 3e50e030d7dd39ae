// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.concurrent.CountDownLatch;

/** Daemon threads: one ends, one is still blocked below application frames when the JVM ends. Both must be counted. */
public class Daemons {
  static int work(int n) {
    int x = 1;
    for (int i = 1; i < n; i++) x = x * 31 + i;
    return x;
  }

  static final Object LOCK = new Object();

  static int block(CountDownLatch ready, int depth) throws InterruptedException {
    int x = work(depth);
    if (depth > 0) return block(ready, depth - 1) + x;
    synchronized (LOCK) {
      ready.countDown();
      LOCK.wait();
    }
    return x;
  }

  public static void main(String[] args) throws Exception {
    CountDownLatch ready = new CountDownLatch(1);
    int[] box = new int[1];
    Thread ends = new Thread(() -> box[0] = work(20), "ends");
    ends.setDaemon(true);
    ends.start();
    ends.join();
    Thread blocked = new Thread(() -> {
      try {
        block(ready, 4);
      } catch (InterruptedException e) {
        box[0] = -1;
      }
    }, "blocked");
    blocked.setDaemon(true);
    blocked.start();
    ready.await();
    synchronized (LOCK) { // free only when the thread waits, so that it has no instruction left to execute
      box[0]++;
    }
    System.out.println("Daemons " + box[0]);
  }
}
