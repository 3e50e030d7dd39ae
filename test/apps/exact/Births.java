// SPDX-License-Identifier: Apache-2.0
package app;

/** Threads that do the same, each from another parent or as another child. */
public final class Births {
  static int work(int x) {
    for (int i = 0; i < 3000; i++) x = step(x, i);
    return x;
  }

  static int step(int x, int i) {
    return x * 31 + i;
  }

  static Thread start(String name, Runnable body) throws InterruptedException {
    final Thread thread = new Thread(body, name);
    thread.start();
    thread.join();
    return thread;
  }

  static void parent() {
    work(1);
    try {
      start("grandchild", Births::child);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  static void child() {
    work(1);
  }

  public static void main(String[] args) throws InterruptedException {
    start("first", Births::parent);
    start("second", Births::child);
    System.out.println("Births " + work(1));
  }
}
