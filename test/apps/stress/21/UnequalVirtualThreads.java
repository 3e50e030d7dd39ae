// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.concurrent.atomic.AtomicLong;

/** UnequalVirtualThreads THREADS: of four kinds in turn, each of which executes a number of bytecodes of its own. */
public final class UnequalVirtualThreads {
  static final AtomicLong SUM = new AtomicLong();

  static int leaf(int x) {
    return x * 31 + 7; // 6 bytecodes
  }

  static int burn(int rounds) { // 9, and 8 + 6 a round
    int x = 1;
    for (int i = 0; i < rounds; i++) x = leaf(x);
    return x;
  }

  static void five() { // 14 and twice 9 + 5 * 14: 172
    SUM.addAndGet(burn(5));
    Thread.yield();
    SUM.addAndGet(burn(5));
  }

  static void ten() { // 312
    SUM.addAndGet(burn(10));
    Thread.yield();
    SUM.addAndGet(burn(10));
  }

  static void twenty() { // 592
    SUM.addAndGet(burn(20));
    Thread.yield();
    SUM.addAndGet(burn(20));
  }

  static void forty() { // 1152
    SUM.addAndGet(burn(40));
    Thread.yield();
    SUM.addAndGet(burn(40));
  }

  public static void main(String[] args) throws InterruptedException {
    final Runnable[] kinds = {
      UnequalVirtualThreads::five, UnequalVirtualThreads::ten, UnequalVirtualThreads::twenty, UnequalVirtualThreads::forty
    };
    final Thread[] threads = new Thread[Integer.parseInt(args[0])];
    for (int i = 0; i < threads.length; i++) threads[i] = Thread.startVirtualThread(kinds[i % kinds.length]);
    for (Thread thread : threads) thread.join();
    System.out.println("sum " + SUM.get());
  }
}
