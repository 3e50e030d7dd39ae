// SPDX-License-Identifier: Apache-2.0
package app;

/** A shutdown hook does the last part of the work, after main has returned. */
public class ShutdownHook {
  static int sum;

  static int work(int n) {
    int x = 0;
    for (int i = 0; i < n; i++) x += i * i;
    return x;
  }

  static class Hook extends Thread {
    Hook() { super("hook"); }

    @Override public void run() {
      sum += work(30);
      System.out.println("ShutdownHook " + sum);
    }
  }

  public static void main(String[] args) {
    Runtime.getRuntime().addShutdownHook(new Hook());
    sum = work(10);
  }
}
