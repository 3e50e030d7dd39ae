// SPDX-License-Identifier: Apache-2.0
package app;

import java.io.IOException;

/**
 * Inlined SECONDS [wait]: calls a method that does nothing but call another one, which is inlined into it and computes for
 * a while without a place at which the JVM could stop it. With "wait" only after a line was read, so that nothing is
 * compiled before.
 */
public final class Inlined {
  private int sum = 1;

  private Inlined() {}

  void inlined() {
    int x = sum;
    x = (x * 31 + 7) * (x ^ 3);
    x = (x * 37 + 5) * (x ^ 9);
    x = (x * 41 + 3) * (x ^ 1);
    sum = x;
  }

  /** Not inlined itself, see the test. */
  void frame() {
    inlined();
  }

  void calls() {
    for (int i = 0; i < 10_000; i++) frame();
  }

  public static void main(String[] args) throws IOException {
    if (args.length > 1 && System.in.read() < 0) return;
    final long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
    final Inlined work = new Inlined();
    while (System.nanoTime() < end) work.calls();
    System.out.println("done " + work.sum);
  }
}
