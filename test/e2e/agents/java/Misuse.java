// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sonde.api.InvocationContext;
import org.sonde.api.MethodId;
import org.sonde.api.MethodIdFactory;
import org.sonde.api.Profiler;
import org.sonde.api.RootContext;
import org.sonde.api.SamplingProfiler;

/** An agent that does what the system property {@code misuse} says in each sample and report. */
public final class Misuse implements SamplingProfiler, Profiler {
  private static final long GRANULARITY = 2000;
  private final String misuse = System.getProperty("misuse");
  private InvocationContext kept;
  private int calls;

  public Misuse() throws InterruptedException {
    if (misuse.equals("constructor throws")) throw new IllegalStateException("no");
    if (misuse.equals("constructor blocks")) Thread.sleep(1_000_000);
  }

  @Override
  public MethodIdFactory methodIdFactory() {
    return misuse.equals("factory throws") ? (className, name, descriptor) -> { throw new IllegalStateException(); } : MethodId::of;
  }

  @Override
  public long register(Thread thread) {
    if (misuse.equals("register throws")) throw new IllegalStateException("not this one");
    return GRANULARITY;
  }

  @Override
  public long processSample(Thread thread, MethodId[] stack, int depth, long bytecodes) {
    return misbehave();
  }

  @Override
  public long register(Thread thread, RootContext root) {
    kept = root;
    return register(thread);
  }

  @Override
  public long report(RootContext root, InvocationContext current) {
    if (misuse.equals("looks too late")) {
      final List<Throwable> thrown = new ArrayList<>();
      final Thread other = new Thread(() -> keptIsClosed(thrown), "late");
      other.start();
      kept = root;
    }
    return misbehave();
  }

  private void keptIsClosed(List<Throwable> thrown) {
    try {
      Thread.sleep(20);
      kept.callees();
    } catch (IllegalStateException | InterruptedException e) {
      thrown.add(e);
    }
  }

  @Override
  public void shutdown() {
    System.err.println("Misuse: " + calls + " calls");
    if (misuse.equals("shutdown blocks")) block(new Object());
  }

  private long misbehave() {
    calls++;
    switch (misuse) {
      case "throws": throw new IllegalStateException("as always");
      case "throws an error": return endless(1);
      case "zero": return 0;
      case "negative": return -7;
      case "waits": return block(this);
      case "loops": return loop();
      case "prints": System.out.println("agent"); break;
      case "starts threads": startThread(); break;
      case "works": work(); break;
      default: break;
    }
    return GRANULARITY;
  }

  private static long endless(long n) {
    return 1 + endless(n + 1);
  }

  private static long block(Object lock) {
    synchronized (lock) {
      try {
        lock.wait();
      } catch (InterruptedException e) {
        return 1;
      }
    }
    return 1;
  }

  private static volatile boolean isTrue = true;

  private static long loop() {
    while (isTrue) Thread.onSpinWait();
    return 1;
  }

  /** A thread that works, and that the call waits for. */
  private static void startThread() {
    final Thread thread = new Thread(Misuse::work, "of the agent");
    thread.start();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Much more than is executed between two samples: if it were counted, the agent would call itself for ever. */
  private static void work() {
    final Map<String, Integer> map = new HashMap<>();
    for (int i = 0; i < 300; i++) map.merge("key " + i % 7, i, Integer::sum);
    if (map.size() != 7) throw new AssertionError(map);
  }
}
