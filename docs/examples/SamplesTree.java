// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.PrintWriter;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.sonde.api.MethodId;
import org.sonde.api.SamplingProfiler;

/**
 * Collects the samples of all threads in one tree and writes it when the JVM ends (W. Binder, "Portable and accurate sampling
 * profiling for Java", section 6), a line for each context that was sampled: {@code main;run;work 17 180300} has 17 samples,
 * with 180,300 bytecodes from the samples before to these. Where a loop without calls executes more than the granularity at once,
 * there is one sample for all of it, so it is the second number that tells shares.
 *
 * <p>The granularity is constant; choose one that no loop of the program keeps step with.
 *
 * <p>System properties: {@code samples.granularity} (10000), {@code samples.file} (samples.txt).
 */
public final class SamplesTree implements SamplingProfiler {
  private final long granularity = Long.getLong("samples.granularity", 10_000);
  private final Node root = new Node(null);
  private long bytecodes;

  /** A method in a context. It is what the stack holds for methods that were seen before (section 6.2). */
  private static final class Node implements MethodId {
    final MethodId method;
    final Map<MethodId, Node> callees = new HashMap<>();
    long samples;
    long bytecodes;

    Node(MethodId method) {
      this.method = method;
    }

    @Override
    public String className() {
      return method.className();
    }

    @Override
    public String methodName() {
      return method.methodName();
    }

    @Override
    public String descriptor() {
      return method.descriptor();
    }
  }

  @Override
  public long register(Thread thread) {
    return granularity;
  }

  @Override
  public long processSample(Thread thread, MethodId[] stack, int depth, long executed) {
    bytecodes += executed;
    int known = depth; // up to here the stack has nodes that we left there
    while (known > 0 && !(stack[known - 1] instanceof Node)) --known;
    Node node = known == 0 ? root : (Node) stack[known - 1];
    for (int i = known; i < depth; i++) {
      final MethodId method = stack[i];
      Node callee = node.callees.get(method);
      if (callee == null) node.callees.put(method, callee = new Node(method));
      stack[i] = node = callee;
    }
    node.samples++;
    node.bytecodes += executed;
    return granularity;
  }

  @Override
  public void end(Thread thread, long executed) {
    bytecodes += executed;
  }

  @Override
  public void shutdown() {
    try (PrintWriter out = new PrintWriter(System.getProperty("samples.file", "samples.txt"))) {
      out.println("# " + bytecodes + " bytecodes");
      write(root, "", out);
    } catch (IOException e) {
      System.err.println("SamplesTree: " + e);
    }
  }

  private static void write(Node node, String path, PrintWriter out) {
    if (node.samples > 0) out.println(path + " " + node.samples + " " + node.bytecodes);
    final Map<String, Node> sorted = new TreeMap<>();
    for (Node callee : node.callees.values()) {
      String name = callee.className() + "." + callee.methodName() + callee.descriptor();
      while (sorted.containsKey(name)) name += "'"; // the same class from another loader
      sorted.put(name, callee);
    }
    sorted.forEach((name, callee) -> write(callee, path.isEmpty() ? name : path + ";" + name, out));
  }
}
