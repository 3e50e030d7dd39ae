// SPDX-License-Identifier: Apache-2.0
package app;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.security.ProtectionDomain;

/**
 * Redefine CPU-SECONDS, as its own agent (-javaagent): burns CPU time in a class that is retransformed again and again, now
 * interpreted, now compiled, while old versions of its methods are freed by collections.
 */
public final class Redefine {
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
  private static Instrumentation instrumentation;
  private static volatile long sink;

  private Redefine() {}

  public static void premain(String arguments, Instrumentation given) {
    instrumentation = given;
  }

  static final class Worker {
    static long work(long x) {
      for (int i = 0; i < 20_000; i++) x = x * 31 + i;
      return twice(x);
    }

    static long twice(long x) {
      for (int i = 0; i < 20_000; i++) x = x * 37 + i;
      return x;
    }
  }

  /** Gives back what it got, which makes it a new version. */
  static final class Same implements ClassFileTransformer {
    @Override
    public byte[] transform(
        Module module, ClassLoader loader, String name, Class<?> cls, ProtectionDomain domain, byte[] bytes) {
      return name != null && name.endsWith("Redefine$Worker") ? bytes.clone() : null;
    }
  }

  public static void main(String[] args) throws Exception {
    final long end = (long) (Double.parseDouble(args[0]) * 1e9);
    final Thread burner =
        new Thread(
            () -> {
              long x = 1;
              while (CLOCK.getCurrentThreadCpuTime() < end) x = Worker.work(x);
              sink = x;
            },
            "burner");
    burner.start();
    instrumentation.addTransformer(new Same(), true);
    int versions = 0;
    for (; burner.isAlive(); versions++) {
      instrumentation.retransformClasses(Worker.class);
      if (versions % 10 == 0) System.gc();
      Thread.sleep(5);
    }
    burner.join();
    System.out.println(versions + " versions, done");
  }
}
