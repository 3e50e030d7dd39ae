// SPDX-License-Identifier: Apache-2.0
// What a call costs: a method that does next to nothing, called in a loop from a root, from outside, and not instrumented at
// all. Prints "NAME ns" lines: the CPU time of the thread for one call, the median of the runs after warming up.
import java.lang.management.ManagementFactory;
import java.util.Arrays;

public final class Calls {
  private static int sum;

  static int tiny(int n) {
    return n * 31 + 7;
  }

  static int root(int calls) {
    int n = 1;
    for (int i = 0; i < calls; i++) n = tiny(n);
    return n;
  }

  static int outside(int calls) {
    int n = 1;
    for (int i = 0; i < calls; i++) n = tiny(n);
    return n;
  }

  /** The same without a call. */
  static int bare(int calls) {
    int n = 1;
    for (int i = 0; i < calls; i++) n = n * 31 + 7;
    return n;
  }

  interface Body {
    int run(int calls);
  }

  static double measure(Body body, int calls, int runs) {
    final var threads = ManagementFactory.getThreadMXBean();
    final double[] ns = new double[runs];
    for (int i = 0; i < runs; i++) {
      final long begin = threads.getCurrentThreadCpuTime();
      sum += body.run(calls);
      ns[i] = (double) (threads.getCurrentThreadCpuTime() - begin) / calls;
    }
    final double[] last = Arrays.copyOfRange(ns, runs / 2, runs);
    Arrays.sort(last);
    return last[last.length / 2];
  }

  public static void main(String[] args) {
    final int calls = Integer.parseInt(args[0]);
    final int runs = Integer.parseInt(args[1]);
    final double bare = measure(Calls::bare, calls, runs);
    final double root = measure(Calls::root, calls, runs);
    final double outside = measure(Calls::outside, calls, runs);
    System.out.printf("bare %.2f%ninside %.2f%noutside %.2f%n", bare, root - bare, outside - bare);
    if (sum == 42) System.out.println(sum);
  }
}
