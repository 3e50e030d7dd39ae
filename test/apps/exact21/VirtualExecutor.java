// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;

/** One virtual thread per task, with names given in order of submission; nested executors. */
public class VirtualExecutor {
  static int task(int n) {
    if (n == 4) throw new IllegalStateException("four");
    return n < 2 ? n : task(n - 1) + task(n - 2);
  }

  static int inner(int n) throws Exception {
    ThreadFactory factory = Thread.ofVirtual().name("inner-" + n).factory();
    try (ExecutorService executor = Executors.newThreadPerTaskExecutor(factory)) {
      return executor.submit(() -> task(3)).get();
    }
  }

  public static void main(String[] args) throws Exception {
    int sum = 0;
    try (ExecutorService executor = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("task-", 0).factory())) {
      List<Future<Integer>> futures = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        final int n = i;
        futures.add(executor.submit(() -> task(n) + inner(n)));
      }
      for (Future<Integer> future : futures) {
        try {
          sum = sum * 3 + future.get();
        } catch (ExecutionException e) {
          sum += 100;
        }
      }
    }
    System.out.println("VirtualExecutor " + sum);
  }
}
