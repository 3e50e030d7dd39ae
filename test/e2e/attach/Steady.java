// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;

/**
 * A program that does what it is told on its standard input, for run.py to attach to:
 *
 * <pre>
 *   run N       calls work() N times                 -> "done N CHECKSUM"
 *   spin MS     the same for so long, on 4 threads   -> "spun CALLS WRONG"; WRONG counts wrong results
 *   handles N   calls byHandle() 3 N times, through handles and by reflection  -> "done N CHECKSUM"
 *   hold        a thread enters a method and stays in it, calling others, until `release`  -> "held"
 * </pre>
 */
public final class Steady {
  private Steady() {}

  interface Shape {
    long area();
  }

  record Square(long side) implements Shape {
    public long area() {
      return side * side;
    }
  }

  record Pair(Shape a, Shape b) implements Shape {
    public long area() {
      return a.area() + b.area();
    }
  }

  /** The same result each time: calls of interfaces, recursion, exceptions, lambdas, the JDK's collections and text. */
  static long work() {
    long sum = recurse(12);
    Shape shape = new Square(3);
    for (int i = 0; i < 5; i++) shape = new Pair(shape, new Square(i));
    sum += shape.area();
    for (int i = 0; i < 4; i++) {
      try {
        sum += half(i);
      } catch (IllegalArgumentException e) {
        sum += 1000 + e.getMessage().length();
      }
    }
    final Map<String, Integer> map = new HashMap<>();
    for (int i = 0; i < 20; i++) map.merge("key" + i % 7, i, Integer::sum);
    for (int value : map.values()) sum += value;
    return sum;
  }

  static int recurse(int n) {
    return n < 2 ? n : recurse(n - 1) + recurse(n - 2);
  }

  static int half(int i) {
    if (i % 2 != 0) throw new IllegalArgumentException("odd " + i);
    return i / 2;
  }

  static volatile boolean held;

  /** Runs from one recording into the next. */
  static void hold() {
    while (held) {
      work();
      rest();
    }
  }

  static void rest() {
    try {
      Thread.sleep(1);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  static final class Spinner extends Thread {
    final long end;
    long calls;
    long wrong;

    Spinner(long end) {
      this.end = end;
    }

    @Override
    public void run() {
      while (System.nanoTime() < end) {
        if (work() != EXPECTED) wrong++;
        calls++;
      }
    }
  }

  static final long EXPECTED = work();

  static String spin(long milliseconds) throws InterruptedException {
    final Spinner[] spinners = new Spinner[4];
    for (int i = 0; i < spinners.length; i++) {
      spinners[i] = new Spinner(System.nanoTime() + milliseconds * 1_000_000);
      spinners[i].start();
    }
    long calls = 0;
    long wrong = 0;
    for (Spinner spinner : spinners) {
      spinner.join();
      calls += spinner.calls;
      wrong += spinner.wrong;
    }
    return "spun " + calls + " " + wrong;
  }

  static String run(int times) {
    long sum = 0;
    for (int i = 0; i < times; i++) sum += work();
    return "done " + times + " " + sum;
  }

  static int byHandle(int n) {
    return n + 1;
  }

  static final MethodHandle HANDLE;
  static final Method REFLECTED;
  static MethodHandle anyHandle;

  static {
    try {
      REFLECTED = Steady.class.getDeclaredMethod("byHandle", int.class);
      HANDLE = MethodHandles.lookup().findStatic(Steady.class, "byHandle", MethodType.methodType(int.class, int.class));
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
    anyHandle = HANDLE;
  }

  static String handles(int times) throws Exception {
    long sum = 0;
    try {
      for (int i = 0; i < times; i++) {
        sum += (int) HANDLE.invokeExact(i) + (int) anyHandle.invokeExact(i) + (int) REFLECTED.invoke(null, i);
      }
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
    return "done " + times + " " + sum;
  }

  static String answer(String[] words) throws Exception {
    switch (words[0]) {
      case "handles":
        return handles(Integer.parseInt(words[1]));
      case "run":
        return run(Integer.parseInt(words[1]));
      case "spin":
        return spin(Long.parseLong(words[1]));
      case "hold":
        held = true;
        new Thread(Steady::hold, "held").start();
        return "held";
      default:
        held = false;
        return "released";
    }
  }

  public static void main(String[] arguments) throws Exception {
    final BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready");
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      System.out.println(answer(line.split(" ")));
    }
    held = false;
    System.out.println("end");
  }
}
