// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.concurrent.CountDownLatch;

/**
 * Ending exit|halt|return CODE: the main thread and the thread "other" go 500 deep; the end of the JVM comes from the
 * bottom of "other" while main waits at its own bottom and five daemon threads spin.
 */
public final class Ending {
  static final CountDownLatch BOTTOM = new CountDownLatch(7);
  static volatile int sink;

  static void down(int n, Runnable bottom) {
    if (n == 0) bottom.run();
    else down(n - 1, bottom);
  }

  static int leaf(int x) {
    return x * 31 + 7;
  }

  static void arrive() {
    BOTTOM.countDown();
  }

  static void await() {
    try {
      BOTTOM.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  static void end(String how, int code) {
    arrive();
    await();
    System.out.println("the end by " + how);
    if (how.equals("exit")) System.exit(code);
    if (how.equals("halt")) Runtime.getRuntime().halt(code);
  }

  static void spin() {
    for (int i = 0; i < 1000; i++) sink = leaf(i);
    arrive();
    while (true) sink++;
  }

  public static void main(String[] args) {
    final String how = args[0];
    final int code = Integer.parseInt(args[1]);
    for (int i = 0; i < 5; i++) {
      final Thread daemon = new Thread("spin-" + i) {
        @Override
        public void run() {
          spin();
        }
      };
      daemon.setDaemon(true);
      daemon.start();
    }
    new Thread("other") {
      @Override
      public void run() {
        down(500, new Runnable() {
          @Override
          public void run() {
            end(how, code);
          }
        });
      }
    }.start();
    down(500, new Runnable() {
      @Override
      public void run() {
        arrive();
        await();
        while (!how.equals("return")) sink++;
      }
    });
  }
}
