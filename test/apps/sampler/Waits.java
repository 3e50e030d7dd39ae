// SPDX-License-Identifier: Apache-2.0
package app;

import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Waits SECONDS: one thread for each way of waiting, each named after it, and one that runs. */
public final class Waits {
  static volatile long sink;

  private Waits() {}

  interface Task {
    void run() throws Exception;
  }

  static void start(String name, Task task) {
    final Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }

  public static void main(String[] args) throws Exception {
    final double seconds = Double.parseDouble(args[0]);
    final long end = System.nanoTime() + (long) (seconds * 1e9);
    final Object lock = new Object();
    final ServerSocket server = new ServerSocket(0);
    final Socket socket = new Socket("localhost", server.getLocalPort());
    start("sleeping", () -> Thread.sleep(1_000_000));
    start("parked", () -> LockSupport.parkNanos(new CountDownLatch(1), 1_000_000_000_000L));
    start(
        "waiting",
        () -> {
          final Object monitor = new Object();
          synchronized (monitor) {
            monitor.wait();
          }
        });
    start(
        "holder",
        () -> {
          synchronized (lock) {
            Thread.sleep(1_000_000);
          }
        });
    Thread.sleep(100);
    start(
        "blocked",
        () -> {
          synchronized (lock) {
            sink++;
          }
        });
    start("io", () -> sink += socket.getInputStream().read());
    start(
        "running",
        () -> {
          long x = 0;
          while (System.nanoTime() < end) x = x * 31 + 7;
          sink = x;
        });
    Thread.sleep((long) (seconds * 1000));
    System.out.println("done");
    System.exit(0);
  }
}
