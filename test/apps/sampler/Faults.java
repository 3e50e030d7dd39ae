// SPDX-License-Identifier: Apache-2.0
package app;

/**
 * Faults that are no errors, as many as it can make: threads stop at safepoints, which are page faults, find null where
 * compiled code looked for it by a fault, and divide by zero. What comes of it is known.
 */
public final class Faults {
  private static final int THREADS = 3;
  private static volatile boolean isOver;
  private int[] field = new int[64];

  public static void main(String[] args) throws Exception {
    final long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
    final long[] wrong = new long[THREADS];
    final Thread[] threads = new Thread[THREADS];
    for (int i = 0; i < THREADS; ++i) {
      final int number = i;
      threads[i] = new Thread(() -> wrong[number] = work());
      threads[i].start();
    }
    int stops = 0;
    for (; System.nanoTime() < end; ++stops) Thread.getAllStackTraces();
    isOver = true;
    long sum = 0;
    for (int i = 0; i < THREADS; ++i) {
      threads[i].join();
      sum += wrong[i];
    }
    System.out.println(stops + " stops, " + sum + " wrong results" + (sum == 0 ? ", done" : ""));
  }

  /** How many results were wrong. */
  private static long work() {
    final Faults here = new Faults();
    long wrong = 0;
    for (int round = 0; !isOver; ++round) {
      if (loop(here, round) != 64L * 63 / 2 * 50) ++wrong;
      if (length(null) != -1 || quotient(round, 0) != -1) ++wrong;
    }
    return wrong;
  }

  private static long loop(Faults here, int round) {
    long sum = 0;
    for (int i = 0; i < 50; ++i) {
      for (int k = 0; k < here.field.length; ++k) here.field[k] = k + round;
      for (int k = 0; k < here.field.length; ++k) sum += here.field[k] - round;
    }
    return sum;
  }

  private static int length(Faults of) {
    try {
      return of.field.length;
    } catch (NullPointerException expected) {
      return -1;
    }
  }

  private static int quotient(int a, int b) {
    try {
      return a / b;
    } catch (ArithmeticException expected) {
      return -1;
    }
  }
}
