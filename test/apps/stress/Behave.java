// SPDX-License-Identifier: Apache-2.0
package app;

import app.helper.Helper;
import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Behave WHAT [NUMBER]: one of the ways in which a program may behave. */
public final class Behave {
  static int g(int x, Map<String, Integer> map) {
    map.put("key", x);
    return Helper.f(x);
  }

  static int half(int[] array) {
    final int x = array[0]; // 3 bytecodes until it throws, 10 in all
    return x * 3 + 1;
  }

  /** 300 calls of Helper.f, 200 of g, 50 of half that throw. */
  static int known() {
    final Map<String, Integer> map = new HashMap<>();
    int x = 0;
    for (int i = 0; i < 100; i++) x = Helper.f(x);
    for (int i = 0; i < 200; i++) x = g(x, map);
    for (int i = 0; i < 50; i++) {
      try {
        x = half(null);
      } catch (NullPointerException e) {
        x++;
      }
    }
    return x;
  }

  /** When the JVM's first compiler sets to work. */
  static void flags() {
    final HotSpotDiagnosticMXBean jvm =
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    for (String name : new String[] {"Invocation", "MinInvocation", "Compile", "BackEdge"})
      System.out.println(name + " " + jvm.getVMOption("Tier3" + name + "Threshold").getValue());
  }

  static void echo() throws IOException {
    final byte[] bytes = System.in.readAllBytes();
    System.out.write(bytes);
    System.out.flush();
    for (int i = bytes.length - 1; i >= 0; i--) System.err.write(bytes[i]);
    System.err.flush();
  }

  static int step(int x) {
    return Helper.f(x) ^ 5;
  }

  /** Prints how often step() was called, at least, again and again for so many seconds. */
  static void busy(int seconds) {
    final long end = System.nanoTime() + seconds * 1_000_000_000L;
    int x = 0;
    for (long calls = 0; System.nanoTime() < end; ) {
      for (int i = 0; i < 100_000; i++) x = step(x);
      calls += 100_000;
      System.out.println(calls);
    }
    System.out.println("done");
  }

  static int left(int n) {
    return n == 0 ? 1 : left(n - 1) + right(n - 1);
  }

  static int right(int n) {
    return n == 0 ? 2 : right(n - 1) + left(n - 1);
  }

  /** Calls a method of the JDK that is counted where it is called. */
  static int natives(int n) {
    int most = 0;
    for (int i = 0; i < n; i++) most = Math.max(most, i);
    return most;
  }

  /** As {@link #known}, on threads of its own that start one after the other. */
  static void knownOnThreads(int threads) throws InterruptedException {
    for (int i = 0; i < threads; i++) {
      final Thread thread = new Thread(Behave::known, "t-" + i);
      thread.start();
      thread.join();
    }
  }

  public static void main(String[] args) throws IOException, InterruptedException {
    final int number = args.length > 1 ? Integer.parseInt(args[1]) : 0;
    switch (args[0]) {
      case "exit" -> System.exit(number);
      case "throw" -> throw new IllegalStateException("nobody catches me");
      case "echo" -> echo();
      case "arguments" -> System.out.println(String.join(" ", args));
      case "deep" -> System.out.println("sum " + DeepRecursion.down(number));
      case "signals" ->
          Files.readAllLines(Path.of("/proc/self/status")).stream().filter(l -> l.startsWith("SigIgn")).forEach(System.out::println);
      case "flags" -> flags();
      case "known" -> System.out.println("x " + known());
      case "busy" -> busy(number);
      case "contexts" -> {
        // 2^(n+1) - 1 contexts and calls, then 1000 calls more.
        System.out.println("sum " + left(number));
        int x = 0;
        for (int i = 0; i < 1000; i++) x = step(x);
        System.out.println("x " + x);
      }
      case "overflow" -> {
        // Once there is no room for another context: calls, exceptions, methods without code of ours, threads.
        System.out.println("sum " + left(number) + " " + known() + " " + natives(1000));
        knownOnThreads(5);
      }
      default -> System.exit(99);
    }
  }
}
