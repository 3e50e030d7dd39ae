// SPDX-License-Identifier: Apache-2.0
package app;

/** Synchronised methods and blocks, static and not, recursive, left by exceptions; wait and notify. */
public class Synchronized {
  static int total;
  private int turn;

  static synchronized int add(int n) {
    if (n < 0) throw new IllegalArgumentException();
    total += n;
    return total;
  }

  synchronized int nested(int n) {
    return n == 0 ? 0 : n + nested(n - 1);
  }

  int block(Object a, Object b, int n) {
    synchronized (a) {
      synchronized (b) {
        if (n % 3 == 0) throw new IllegalStateException();
        if (n % 3 == 1) return n;
      }
      n *= 2;
    }
    return n;
  }

  static void unlockTwice(Object lock) throws InterruptedException {
    lock.notify();
  }

  // A while loop around wait() may be woken for nothing; the hand-over below gives both threads exactly one wait each.
  synchronized void pass(int expected) throws InterruptedException {
    if (turn != expected) wait(10000);
    turn++;
    notifyAll();
  }

  public static void main(String[] args) throws Exception {
    Synchronized s = new Synchronized();
    int sum = s.nested(10);
    for (int i = -2; i < 5; i++) {
      try {
        sum += add(i);
      } catch (IllegalArgumentException e) {
        sum += 50;
      }
      try {
        sum += s.block(s, new Object(), i + 3);
      } catch (IllegalStateException e) {
        sum += 500;
      }
    }
    try {
      unlockTwice(s);
    } catch (IllegalMonitorStateException e) {
      sum += 7;
    }
    Thread other = new Thread(() -> {
      try {
        synchronized (s) {
          s.pass(0);
        }
      } catch (InterruptedException e) {
        total = -1;
      }
    }, "other");
    other.start();
    other.join();
    s.pass(1);
    System.out.println("Synchronized " + sum + " " + total + " " + s.turn);
  }
}
