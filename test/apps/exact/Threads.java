// SPDX-License-Identifier: Apache-2.0
package app;

/** Threads with names: started, joined, nested, subclassed, ended by an exception with a handler of the application. */
public class Threads {
  static volatile int handled;

  static int work(int n) { return n <= 1 ? 1 : n * work(n - 1) % 1009; }

  static class Worker extends Thread {
    final int n;
    int result;

    Worker(String name, int n) {
      super(name);
      this.n = n;
    }

    @Override public void run() {
      for (int i = 0; i < n; i++) result += work(i);
    }
  }

  static class Nested implements Runnable {
    public void run() {
      Worker worker = new Worker("nested-child", 5);
      worker.start();
      try {
        worker.join();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      fail(3);
    }

    static void fail(int depth) {
      if (depth == 0) throw new IllegalStateException("uncaught");
      fail(depth - 1);
    }
  }

  public static void main(String[] args) throws Exception {
    Worker[] workers = new Worker[4];
    for (int i = 0; i < workers.length; i++) {
      workers[i] = new Worker("worker-" + i, i * 3);
      workers[i].start();
    }
    int sum = 0;
    for (Worker worker : workers) {
      worker.join();
      sum = sum * 7 + worker.result;
    }
    Thread nested = new Thread(new Nested(), "nested");
    nested.setUncaughtExceptionHandler((thread, e) -> handled += e.getMessage().length());
    nested.start();
    nested.join();
    System.out.println("Threads " + sum + " " + handled);
  }
}
