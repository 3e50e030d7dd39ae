// SPDX-License-Identifier: Apache-2.0
package app;

/** A class is initialised after a call of a native method, which has nothing to do with it. */
public final class ClinitAfterNative {
  static final class Lazy {
    static int value = work(200);

    static int work(int n) {
      int sum = 0;
      for (int i = 0; i < n; i++) sum = sum * 31 + i;
      return sum;
    }
  }

  public static void main(String[] args) {
    long then = System.nanoTime();
    int value = Lazy.value;
    System.out.println(then == 0 ? "never" : "ClinitAfterNative " + value);
  }
}
