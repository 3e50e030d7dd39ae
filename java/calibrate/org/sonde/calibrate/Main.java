// SPDX-License-Identifier: Apache-2.0
package org.sonde.calibrate;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

/** Prints for each kernel how many nanoseconds of CPU time an iteration takes: the least of several runs. */
public final class Main {
  private static final int RUNS = 9;
  private static final long WARM_UP_NS = 60_000_000;
  private static final long RUN_NS = 3_000_000;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static long sink;

  private Main() {}

  public static void main(String[] args) throws ReflectiveOperationException {
    final Method[] kernels = Kernels.class.getDeclaredMethods();
    Arrays.sort(kernels, (a, b) -> a.getName().compareTo(b.getName()));
    // All are run before one is measured: what a compiler knows of a shared method must not depend on the order.
    for (int round = 0; round < 2; round++) {
      for (Method kernel : kernels) {
        if (Modifier.isPublic(kernel.getModifiers())) warmUp(kernel);
      }
    }
    for (Method kernel : kernels) {
      if (Modifier.isPublic(kernel.getModifiers())) System.out.println(kernel.getName() + " " + measure(kernel));
    }
    if (sink == 42) System.out.println();
  }

  private static long run(Method kernel, int iterations) throws ReflectiveOperationException {
    final long begin = THREADS.getCurrentThreadCpuTime();
    sink += (long) kernel.invoke(null, iterations);
    return THREADS.getCurrentThreadCpuTime() - begin;
  }

  private static void warmUp(Method kernel) throws ReflectiveOperationException {
    for (long spent = 0; spent < WARM_UP_NS / 2; ) spent += run(kernel, 2000) + 1000;
  }

  private static double measure(Method kernel) throws ReflectiveOperationException {
    int iterations = 2000;
    while (run(kernel, iterations) < RUN_NS && iterations < 1 << 28) iterations *= 2;
    long least = Long.MAX_VALUE;
    for (int i = 0; i < RUNS; i++) least = Math.min(least, run(kernel, iterations));
    return (double) least / iterations;
  }
}
