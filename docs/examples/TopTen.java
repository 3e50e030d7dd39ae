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
    final MethodId method;
    long calls;
    long bytecodes;

    Count(MethodId method, long calls, long bytecodes) {
      this.method = method;
      this.calls = calls;
      this.bytecodes = bytecodes;
    }
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
      Count count = counts.get(next.method());
      if (count == null) counts.put(next.method(), count = new Count(next.method(), 0, 0));
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

  /** A thread of the program may wait for the lock while it holds any of the JDK's, so nothing but copying is done with it. */
  private List<Count> copy() {
    synchronized (counts) {
      final List<Count> copies = new ArrayList<>(counts.size());
      for (Count count : counts.values()) copies.add(new Count(count.method, count.calls, count.bytecodes));
      return copies;
    }
  }

  private void print() {
    final StringBuilder text = new StringBuilder("--- top ten\n");
    copy().stream()
        .sorted(Comparator.comparingLong(count -> -count.bytecodes))
        .limit(10)
        .forEach(count -> text.append(String.format("%,16d bytecodes %,14d calls  %s%n", count.bytecodes, count.calls, count.method)));
    System.err.print(text);
  }
}
