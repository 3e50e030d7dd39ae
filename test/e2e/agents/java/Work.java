// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;

/** Known shares on the main thread and on four workers; with an argument, for about that many milliseconds. */
public final class Work {
  static int burn(int x, int times) {
    for (int i = 0; i < times; i++) x = x * 31 + i;
    return x;
  }

  static int burnOnce(int x) {
    return burn(x, 3);
  }

  static int burnFive(int x) {
    for (int i = 0; i < 5; i++) x = burnOnce(x);
    return x;
  }

  static int round(int x) {
    return burnFive(burnOnce(x));
  }

  static int rounds(int x, int count) {
    for (int i = 0; i < count; i++) x = round(x);
    return x;
  }

  public static void main(String[] args) throws InterruptedException {
    final int[] results = new int[4];
    final List<Thread> workers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      final int worker = i;
      workers.add(new Thread(() -> results[worker] = rounds(worker, 200 * (worker + 1)), "worker-" + i));
    }
    for (Thread worker : workers) worker.start();
    int x = rounds(1, 3000);
    for (Thread worker : workers) worker.join();
    for (int result : results) x = x * 31 + result;
    if (args.length > 0) {
      final long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
      while (System.nanoTime() < end) rounds(x, 100);
    }
    System.out.println("Work " + x);
    System.exit(x & 7);
  }
}
