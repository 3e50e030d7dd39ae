// SPDX-License-Identifier: Apache-2.0
package app;

/** ShortThreads THREADS CALLS: one platform thread after the other, eight at a time; each calls step() CALLS times. */
public final class ShortThreads implements Runnable {
  private final int calls;
  private int result;

  private ShortThreads(int calls) {
    this.calls = calls;
  }

  static int leaf(int x) {
    return x * 31 + 7; // 6 bytecodes
  }

  static int step(int x) {
    return leaf(x) + leaf(x + 1); // 8 bytecodes
  }

  @Override
  public void run() {
    int x = 1;
    for (int n = 0; n < calls; n++) x = step(x);
    result = x;
  }

  public static void main(String[] args) throws InterruptedException {
    final int threads = Integer.parseInt(args[0]);
    final int calls = Integer.parseInt(args[1]);
    long sum = 0;
    for (int done = 0; done < threads; ) {
      final int batch = Math.min(8, threads - done);
      final Thread[] alive = new Thread[batch];
      final ShortThreads[] tasks = new ShortThreads[batch];
      for (int i = 0; i < batch; i++) {
        tasks[i] = new ShortThreads(calls);
        alive[i] = new Thread(tasks[i], "short-" + (done + i));
        alive[i].start();
      }
      for (int i = 0; i < batch; i++) {
        alive[i].join();
        sum += tasks[i].result;
      }
      done += batch;
    }
    System.out.println("sum " + sum);
  }
}
