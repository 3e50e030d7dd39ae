// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/** Thousands of virtual threads that do the same work. */
public final class VirtualWork {
  public static void main(String[] args) {
    final AtomicLong sum = new AtomicLong();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < Integer.parseInt(args[0]); i++) {
        final int seed = i;
        threads.submit(() -> sum.addAndGet(Work.rounds(seed, 10)));
      }
    }
    System.out.println("VirtualWork " + sum);
  }
}
