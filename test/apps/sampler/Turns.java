// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Turns SECONDS: four pairs of threads that wake each other all the time, and one that never waits
 * and goes on alone for half as long. Says "all" and "alone" towards the end of both.
 */
public final class Turns {
  private static final AtomicBoolean GAME_OVER = new AtomicBoolean();
  private static final AtomicBoolean STOP = new AtomicBoolean();

  private Turns() {}

  /** Runs when it is its turn, and then it is that of the other one. */
  static final class Player extends Thread {
    private Player other;
    private volatile boolean isMyTurn;

    Player(String name) {
      super(name);
    }

    @Override
    public void run() {
      while (!GAME_OVER.get()) {
        while (!isMyTurn && !GAME_OVER.get()) LockSupport.park(this);
        isMyTurn = false;
        other.isMyTurn = true;
        LockSupport.unpark(other);
      }
      LockSupport.unpark(other);
    }
  }

  public static void main(String[] args) throws InterruptedException {
    final Thread burner =
        new Thread(
            () -> {
              long x = 1;
              while (!STOP.get()) x = x * 31 + 7;
              System.out.println("done " + x);
            },
            "burner");
    burner.start();
    for (int i = 0; i < 4; i++) {
      final Player ping = new Player("ping-" + i);
      final Player pong = new Player("pong-" + i);
      ping.other = pong;
      pong.other = ping;
      ping.isMyTurn = true;
      pong.start();
      ping.start();
    }
    final long tenth = (long) (Double.parseDouble(args[0]) * 100);
    Thread.sleep(8 * tenth);
    System.out.println("all");
    Thread.sleep(2 * tenth);
    GAME_OVER.set(true);
    Thread.sleep(4 * tenth);
    System.out.println("alone");
    Thread.sleep(tenth);
    STOP.set(true);
    burner.join();
  }
}
