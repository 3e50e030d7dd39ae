// SPDX-License-Identifier: Apache-2.0
// One of everything that javac writes, for the listing tests. Compiled once with `javac -g -parameters --release 17`.
import java.util.List;
import java.util.function.Supplier;

@Deprecated(since = "1", forRemoval = true)
public abstract class Tour<T extends Comparable<T>> implements Supplier<T> {
  static final long BIG = 1L << 40;
  static final double THIRD = 1.0 / 3;
  static final float NOT_A_NUMBER = Float.NaN;
  static final String TEXT = "tab\t quote\" backslash\\ euro\u20ac smile\uD83D\uDE00 lone\uD83D";
  protected volatile T value;

  record Point(@Deprecated int x, List<String> names) {}

  sealed interface Shape permits Circle {}

  static final class Circle implements Shape {}

  Tour(int n) {
    this(n > 0 ? "positive" : "negative", n);
  }

  Tour(String text, long n) {
    System.out.println(text + n);
  }

  public abstract T get();

  static native int nativeMethod(long[][] matrix);

  static int dense(int n) {
    switch (n) {
      case 1: return 10;
      case 2: return 20;
      case 4: return 40;
      default: return -1;
    }
  }

  static String sparse(int n) {
    return switch (n) {
      case -1000 -> "a";
      case 0 -> "b";
      case 1_000_000 -> "c";
      default -> throw new IllegalArgumentException();
    };
  }

  static Object arrays(int n) {
    int[][][] cube = new int[n][2][];
    boolean[] bits = new boolean[300];
    String[] names = {"x"};
    return n > 1 ? cube : n < 0 ? bits : names;
  }

  synchronized long tryAll(Object lock) throws InterruptedException {
    long sum = 0;
    try {
      synchronized (lock) {
        for (int i = 0; i < 40_000; i += 200) sum += i;
      }
    } catch (IllegalStateException | ArithmeticException e) {
      sum = -1;
    } finally {
      lock.wait(1);
    }
    return sum;
  }

  Supplier<String> lambda(String captured) {
    return () -> captured + value;
  }
}
