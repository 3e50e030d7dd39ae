// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sonde.api.InvocationContext;
import org.sonde.api.MethodId;
import org.sonde.api.Profiler;
import org.sonde.api.RootContext;

/**
 * Continuous metrics: prints the ten methods that executed most bytecodes, every second, on stderr.
 *
 * <p>Threads report every 50 million bytecodes (system property {@code topten.granularity}) and at their end.
 */
public final class TopTen implements Profiler, Runnable {
  private final long granularity = Long.getLong("topten.granularity", 50_000_000);
  private final Map<MethodId, Count> counts = new HashMap<>(); // guarded by itself: run() has a thread of its own

  private static final class Count {
    long calls;
    long bytecodes;
  }

  public TopTen() {
    final Thread printer = new Thread(this, "top ten");
    printer.setDaemon(true);
    printer.start();
  }

  @Override
  public long register(Thread thread, RootContext root) {
    return granularity;
  }

  @Override
  public long report(RootContext root, InvocationContext current) {
    synchronized (counts) {
      addCalleesOf(root);
    }
    return granularity;
  }

  /** Takes over what was counted since the last report. */
  private void addCalleesOf(InvocationContext context) {
    final List<InvocationContext> waiting = new ArrayList<>(context.callees());
    while (!waiting.isEmpty()) {
      final InvocationContext next = waiting.remove(waiting.size() - 1);
      final Count count = counts.computeIfAbsent(next.method(), method -> new Count());
      count.calls += next.calls();
      count.bytecodes += next.bytecodes();
      next.reset();
      waiting.addAll(next.callees());
    }
  }

  @Override
  public void run() {
    try {
      while (true) {
        Thread.sleep(1000);
        print();
      }
    } catch (InterruptedException e) {
      // nobody does that; there is no more to print
    }
  }

  @Override
  public void shutdown() {
    print();
  }

  private void print() {
    final StringBuilder text = new StringBuilder("--- top ten\n");
    synchronized (counts) {
      counts.entrySet().stream()
          .sorted(Comparator.comparingLong(entry -> -entry.getValue().bytecodes))
          .limit(10)
          .forEach(entry -> text.append(String.format("%,16d bytecodes %,14d calls  %s%n", entry.getValue().bytecodes, entry.getValue().calls, entry.getKey())));
    }
    System.err.print(text); // not while we hold a lock that a thread of the program waits for
  }
}
