// SPDX-License-Identifier: Apache-2.0
package app;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntUnaryOperator;

/**
 * Churn SECONDS: everything that makes a sampler's life hard, at once: threads that live for a moment, class loaders
 * that are dropped with their classes, garbage, stacks that overflow, exceptions through many frames, lambdas, child
 * processes. Says "done" at the end.
 */
public final class Churn {
  private static final AtomicBoolean STOP = new AtomicBoolean();
  private static final AtomicLong SINK = new AtomicLong();
  static final AtomicLong THREADS = new AtomicLong();

  private Churn() {}

  interface Task {
    void run() throws Exception;
  }

  /** Defined again and again by loaders that nobody keeps. */
  public static final class Plugin implements IntUnaryOperator {
    @Override
    public int applyAsInt(int x) {
      for (int i = 0; i < 200_000; i++) x = x * 31 + i;
      return x;
    }
  }

  static final class Loader extends ClassLoader {
    Loader() {
      super(Churn.class.getClassLoader());
    }

    Class<?> define(byte[] bytes) {
      return defineClass("app.Churn$Plugin", bytes, 0, bytes.length);
    }
  }

  static byte[] bytesOf(Class<?> cls) throws IOException {
    try (InputStream in = cls.getResourceAsStream(cls.getName().substring(4) + ".class")) {
      final ByteArrayOutputStream out = new ByteArrayOutputStream();
      in.transferTo(out);
      return out.toByteArray();
    }
  }

  static void shortThreads() throws InterruptedException {
    final List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      final Thread thread = new Thread(() -> SINK.addAndGet(spin(20_000)), "short-" + i);
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) thread.join();
    THREADS.addAndGet(threads.size());
    Thread.sleep(5);
  }

  static long spin(int n) {
    long x = 1;
    for (int i = 0; i < n; i++) x = x * 31 + i;
    return x;
  }

  static void unloading(byte[] bytes) throws ReflectiveOperationException {
    final Class<?> cls = new Loader().define(bytes);
    final IntUnaryOperator plugin = (IntUnaryOperator) cls.getDeclaredConstructor().newInstance();
    SINK.addAndGet(plugin.applyAsInt(3));
  }

  static void garbage() {
    final Map<Integer, byte[]> map = new HashMap<>();
    for (int i = 0; i < 5_000; i++) map.put(i, new byte[100 + i % 1000]);
    SINK.addAndGet(map.size());
  }

  static int overflow(int depth) {
    return depth < 0 ? 0 : overflow(depth + 1) + 1;
  }

  static void overflows() {
    try {
      SINK.addAndGet(overflow(0));
    } catch (StackOverflowError expected) {
      SINK.incrementAndGet();
    }
  }

  static int thrower(int depth) {
    if (depth == 0) throw new IllegalStateException("expected");
    return thrower(depth - 1) + 1;
  }

  static void exceptions() {
    for (int i = 0; i < 200; i++) {
      try {
        SINK.addAndGet(thrower(i % 50));
      } catch (IllegalStateException expected) {
        SINK.incrementAndGet();
      }
    }
  }

  static void children() throws IOException, InterruptedException {
    final Process child = new ProcessBuilder("true").start();
    SINK.addAndGet(child.waitFor());
    Thread.sleep(50);
  }

  static Thread repeat(String name, Task task) {
    final Thread thread =
        new Thread(
            () -> {
              try {
                while (!STOP.get()) task.run();
              } catch (Exception e) {
                e.printStackTrace();
                System.exit(3);
              }
            },
            name);
    thread.start();
    return thread;
  }

  public static void main(String[] args) throws Exception {
    final byte[] bytes = bytesOf(Plugin.class);
    final List<Thread> threads =
        List.of(
            repeat("short threads", Churn::shortThreads),
            repeat("unloading", () -> unloading(bytes)),
            repeat("garbage", Churn::garbage),
            repeat("overflows", Churn::overflows),
            repeat("exceptions", Churn::exceptions),
            repeat("children", Churn::children));
    Thread.sleep((long) (Double.parseDouble(args[0]) * 1000));
    STOP.set(true);
    for (Thread thread : threads) thread.join();
    System.out.println("done");
  }
}
