// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Named virtual threads that park, sleep, yield, lock and so change carriers; one ends by an exception. */
public class VirtualThreads {
  static final ReentrantLock LOCK = new ReentrantLock();
  static int locked;
  static int synced;
  static volatile int handled;

  static int work(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) {
      x = x * 31 + i;
      if (i % 5 == 0) Thread.yield();
    }
    return x;
  }

  static int deep(int depth) {
    if (depth == 0) {
      LockSupport.parkNanos(100_000);
      return 1;
    }
    return deep(depth - 1) + 1;
  }

  static void add(int n) {
    LOCK.lock();
    try {
      locked += n;
      if (n == 3) throw new IllegalStateException("three");
    } finally {
      LOCK.unlock();
    }
    synchronized (VirtualThreads.class) {
      synced += n;
    }
  }

  static void body(int id) {
    try {
      add(work(10 + id) * 0 + deep(id) - 1);
      Thread.sleep(1);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  public static void main(String[] args) throws Exception {
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      final int id = i;
      Thread.Builder builder = Thread.ofVirtual().name("virtual-" + i);
      all.add(builder.uncaughtExceptionHandler((t, e) -> handled++).start(() -> body(id)));
    }
    for (Thread thread : all) thread.join();
    CountDownLatch latch = new CountDownLatch(2);
    for (int i = 0; i < 2; i++) Thread.ofVirtual().name("late-" + i).start(latch::countDown).join();
    latch.await();
    System.out.println("VirtualThreads " + locked + " " + synced + " " + handled);
  }
}
