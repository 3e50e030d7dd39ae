// SPDX-License-Identifier: Apache-2.0
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.sonde.api.MethodId;
import org.sonde.api.SamplingProfiler;

/**
 * Samples only threads whose name matches a regular expression (system property {@code threads.name}, by default
 * {@code worker.*}); the others are asked once and never again. At the end it prints for each of them what it executed and
 * the method that was sampled most.
 */
public final class NamedThreads implements SamplingProfiler {
  private static final long GRANULARITY = 100_000;
  private final Pattern wanted = Pattern.compile(System.getProperty("threads.name", "worker.*"));
  private final Map<Thread, Work> living = new IdentityHashMap<>();
  private final Map<String, Work> byName = new TreeMap<>(); // threads of the same name together

  private static final class Work {
    int threads;
    long bytecodes;
    final Map<MethodId, Long> samples = new HashMap<>();
  }

  @Override
  public long register(Thread thread) {
    if (!wanted.matcher(thread.getName()).matches()) return Long.MAX_VALUE;
    final Work work = byName.computeIfAbsent(thread.getName(), name -> new Work());
    work.threads++;
    living.put(thread, work);
    return GRANULARITY;
  }

  @Override
  public long processSample(Thread thread, MethodId[] stack, int depth, long bytecodes) {
    final Work work = living.get(thread);
    work.bytecodes += bytecodes;
    work.samples.merge(stack[depth - 1], 1L, Long::sum);
    return GRANULARITY;
  }

  @Override
  public void end(Thread thread, long bytecodes) {
    final Work work = living.remove(thread);
    if (work != null) work.bytecodes += bytecodes;
  }

  @Override
  public void shutdown() {
    byName.forEach(
        (name, work) -> {
          final String hottest =
              work.samples.entrySet().stream().max(Map.Entry.comparingByValue()).map(entry -> ", most in " + entry.getKey()).orElse("");
          System.err.printf("%s: %d thread(s), %,d bytecodes%s%n", name, work.threads, work.bytecodes, hottest);
        });
  }
}
