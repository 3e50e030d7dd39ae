package app;

/**
 * ShortThreads THREADS: starts one thread after the other and waits for its end. None of them lives as long as an interval between
 * samples; what takes the time is to start them, and a method that is called in between.
 */
public final class ShortThreads {
  static int sum;

  static void between() {
    for (int i = 0; i < 20_000; i++) sum = sum * 31 + i;
  }

  public static void main(String[] arguments) throws InterruptedException {
    for (int i = Integer.parseInt(arguments[0]); i > 0; i--) {
      Thread thread = new Thread(() -> sum++);
      thread.start();
      thread.join();
      between();
    }
    System.out.println("done " + sum);
  }
}
