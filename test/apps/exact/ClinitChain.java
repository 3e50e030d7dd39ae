// SPDX-License-Identifier: Apache-2.0
package app;

/** A chain and a cycle of static initialisers, one started from two threads, one with a helper class per step. */
public class ClinitChain {
  static class A { static int v = 1 + B.v; }

  static class B { static int v = 2 * C.v; }

  static class C {
    static int v = 3;

    static {
      for (int i = 0; i < 5; i++) v += D.next(i);
    }
  }

  static class D {
    static int seen;

    static { seen = E.v; }

    static int next(int i) { return seen += i; }
  }

  static class E { static int v = F.twice(4); }

  interface F {
    int LATE = A.v;

    static int twice(int n) { return n * 2 + LATE; }
  }

  static class Ping { static int v = Pong.v + 1; }

  static class Pong { static int v = Ping.v + 1; }

  static class Slow {
    static int v;

    static {
      for (int i = 0; i < 50; i++) v += i;
    }
  }

  public static void main(String[] args) throws Exception {
    int sum = A.v * 100 + Ping.v * 10 + Pong.v;
    int[] box = new int[1];
    Thread other = new Thread(() -> box[0] = Slow.v, "other");
    other.start();
    other.join();
    System.out.println("ClinitChain " + (sum + Slow.v + box[0]));
  }
}
