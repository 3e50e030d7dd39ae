// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Thread pools. Which worker takes a task is fixed: the first N tasks of a fixed pool start one worker each. */
public class Pools {
  static int task(int n) {
    if (n == 2) throw new IllegalStateException("two");
    int sum = 0;
    for (int i = 0; i <= n; i++) sum += i;
    return sum;
  }

  static int get(Future<Integer> future) throws InterruptedException {
    try {
      return future.get();
    } catch (ExecutionException e) {
      return e.getCause().getMessage().length() * 100;
    }
  }

  public static void main(String[] args) throws Exception {
    int sum = 0;
    ExecutorService fixed = Executors.newFixedThreadPool(4);
    List<Future<Integer>> futures = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      final int n = i;
      futures.add(fixed.submit(() -> task(n)));
    }
    for (Future<Integer> future : futures) sum = sum * 3 + get(future);
    fixed.shutdown();
    fixed.awaitTermination(1, TimeUnit.MINUTES);

    ExecutorService single = Executors.newSingleThreadExecutor(r -> new Thread(r, "single"));
    for (int i = 0; i < 20; i++) {
      final int n = i;
      sum += get(single.submit(() -> task(n) + 1));
    }
    single.shutdown();
    single.awaitTermination(1, TimeUnit.MINUTES);

    // A stage may run where it is added or where the one before completes; a caller-runs executor leaves no choice.
    sum += CompletableFuture.supplyAsync(() -> task(5), Runnable::run).thenApply(n -> n + task(3))
        .thenCombine(CompletableFuture.supplyAsync(() -> task(2), Runnable::run).exceptionally(e -> 50), Integer::sum)
        .get();
    System.out.println("Pools " + sum);
  }
}
