// SPDX-License-Identifier: Apache-2.0
package app;

/** ManyThreads THREADS CALLS: threads w-0, w-1, … at the same time, each calls step() CALLS times, and that leaf() twice. */
public final class ManyThreads {
  static int leaf(int x) {
    return x * 31 + 7; // 6 bytecodes
  }

  static int step(int x) {
    return leaf(x) + leaf(x + 1); // 8 bytecodes
  }

  public static void main(String[] args) throws InterruptedException {
    final int calls = Integer.parseInt(args[1]);
    final Thread[] threads = new Thread[Integer.parseInt(args[0])];
    final int[] results = new int[threads.length];
    for (int i = 0; i < threads.length; i++) {
      final int index = i;
      threads[i] = new Thread("w-" + i) {
        @Override
        public void run() {
          int x = index;
          for (int n = 0; n < calls; n++) x = step(x);
          results[index] = x;
        }
      };
    }
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
    int sum = 0;
    for (int result : results) sum = sum * 17 + result;
    System.out.println("sum " + sum);
  }
}
