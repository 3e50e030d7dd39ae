// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.ArrayList;
import java.util.List;

/** A root that many virtual threads call, each once and waiting in it. Argument: how many. */
public final class SubgraphVirtual {
  static int leaf(int n) {
    return n * 31 + 7;
  }

  static int task(int n) {
    int sum = leaf(n);
    try {
      Thread.sleep(1);
    } catch (InterruptedException e) {
      return 0;
    }
    return sum + leaf(n + 1);
  }

  public static void main(String[] args) throws Exception {
    final int count = Integer.parseInt(args[0]);
    final long[] sums = new long[count];
    long sum = task(0); // what it calls is known before the many come
    final List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      final int number = i;
      threads.add(Thread.startVirtualThread(() -> sums[number] = task(number)));
    }
    for (Thread thread : threads) thread.join();
    for (long s : sums) sum += s;
    System.out.println("done " + sum);
  }
}
