// SPDX-License-Identifier: Apache-2.0
package org.sonde.api;

import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Between libsonde.so (src/agent/jvmti/user_agent.cc) and a profiling agent. Static methods are called from there, on the
 * agent's thread only.
 *
 * <p>Whatever the agent throws ends here. Results are granularities; 0 if the agent did not give one.
 */
final class AgentThread {
  private AgentThread() {}

  private static Agent agent;
  private static SamplingProfiler sampler; // one of these two is null
  private static Profiler profiler;
  private static MethodIdFactory factory;
  private static MethodId[] methods = new MethodId[4096]; // by number; null: not asked for yet
  private static final Map<Thread, ReifiedStack> stacks = new IdentityHashMap<>();
  private static final Map<Thread, RootContext> roots = new IdentityHashMap<>();
  private static long reports;

  /** Six numbers for each callee of a node, 0 for the root; see InvocationContext. */
  static native long[] callees(long tree, long node);

  /** Class, name and descriptor. */
  private static native String[] describe(int method);

  /** Allows to look at a tree while its thread runs; false if it has ended. */
  private static native boolean open(long tree);

  /** How many bytecodes a living thread has executed since the agent was called for it. */
  private static native long rest(Thread thread);

  private static native void failed(String what);

  /** Has {@link #shutdown} called on the agent's thread and waits for it. */
  private static native void finish();

  static long reports() {
    return reports;
  }

  static MethodId method(int number) {
    if (number >= methods.length) methods = Arrays.copyOf(methods, Integer.highestOneBit(number) * 2);
    if (methods[number] == null) {
      final String[] names = describe(number);
      methods[number] = factory.create(names[0], names[1], names[2]);
      if (methods[number] == null) throw new NullPointerException("its MethodIdFactory returned null");
    }
    return methods[number];
  }

  // --- called from libsonde.so --------------------------------------------------------------------------------------

  /** Null, or why there is no agent: the rest of a sentence that begins with its name. */
  static String start(String className, boolean samples) {
    try {
      final Class<?> wanted = samples ? SamplingProfiler.class : Profiler.class;
      final Class<?> found = Class.forName(className, true, AgentThread.class.getClassLoader());
      if (!wanted.isAssignableFrom(found)) {
        return "does not implement " + wanted.getName() + ", which --mode " + (samples ? "bytecode" : "exact") + " needs";
      }
      agent = (Agent) found.getConstructor().newInstance();
      if (samples) {
        sampler = (SamplingProfiler) agent;
      } else {
        profiler = (Profiler) agent;
      }
      factory = agent.methodIdFactory();
      if (factory == null) return "has no MethodIdFactory: methodIdFactory() returned null";
      Runtime.getRuntime().addShutdownHook(new Finisher());
      return null;
    } catch (ClassNotFoundException e) {
      return className.equals(e.getMessage()) ? "is not in what --agent-path names" : "needs a class that is missing: " + e.getMessage();
    } catch (NoSuchMethodException | IllegalAccessException e) {
      return "is not a public class with a public constructor without parameters";
    } catch (InstantiationException e) {
      return "is abstract";
    } catch (InvocationTargetException e) {
      return "cannot be made: its constructor threw " + described(e.getCause());
    } catch (Throwable e) {
      return "cannot be loaded: " + described(e);
    }
  }

  static long registerSampled(Thread thread) {
    try {
      stacks.put(thread, new ReifiedStack());
      return granularity(sampler.register(thread), "register");
    } catch (Throwable e) {
      return thrown(e);
    }
  }

  static long sample(Thread thread, int[] numbers, int depth, long bytecodes) {
    try {
      final ReifiedStack stack = stacks.get(thread);
      stack.set(numbers, depth);
      return granularity(sampler.processSample(thread, stack.methods, depth, bytecodes), "processSample");
    } catch (Throwable e) {
      return thrown(e);
    }
  }

  static long endSampled(Thread thread, long bytecodes) {
    try {
      if (stacks.remove(thread) != null) sampler.end(thread, bytecodes);
    } catch (Throwable e) {
      thrown(e);
    }
    return 0;
  }

  static long registerCounted(Thread thread, long tree) {
    final RootContext root = new RootContext(thread, tree);
    try {
      roots.put(thread, root);
      begin(root, false);
      return granularity(profiler.register(thread, root), "register");
    } catch (Throwable e) {
      return thrown(e);
    } finally {
      root.isOpen = false;
    }
  }

  /** The path leads from the root to the current context, by records of call sites. */
  static long report(Thread thread, long[] path) {
    final RootContext root = roots.get(thread);
    if (root == null) return 0;
    try {
      begin(root, false);
      InvocationContext current = root;
      for (long record : path) {
        final InvocationContext callee = current.callee(record);
        if (callee == null) break;
        current = callee;
      }
      return granularity(profiler.report(root, current), "report");
    } catch (Throwable e) {
      return thrown(e);
    } finally {
      root.isOpen = false;
    }
  }

  static long endCounted(Thread thread) {
    final RootContext root = roots.remove(thread);
    if (root != null) reportLast(root);
    return 0;
  }

  static void shutdown() {
    try {
      for (Thread thread : stacks.keySet()) sampler.end(thread, rest(thread));
      for (RootContext root : roots.values()) {
        if (open(root.tree)) reportLast(root);
      }
      agent.shutdown();
    } catch (Throwable e) {
      thrown(e);
    }
  }

  // ------------------------------------------------------------------------------------------------------------------

  private static void reportLast(RootContext root) {
    try {
      begin(root, true);
      profiler.report(root, root);
    } catch (Throwable e) {
      thrown(e);
    } finally {
      root.isOpen = false;
    }
  }

  private static void begin(RootContext root, boolean isFinal) {
    ++reports;
    root.isOpen = true;
    root.isFinal = isFinal;
  }

  private static long granularity(long asked, String method) {
    if (asked > 0) return asked;
    failed(method + " returned " + asked + " as the granularity, which must be positive");
    return 0;
  }

  private static long thrown(Throwable e) {
    try {
      failed("it threw " + described(e));
    } catch (Throwable again) {
      failed("it threw an exception that cannot be printed");
    }
    return 0;
  }

  private static String described(Throwable e) {
    final StackTraceElement[] trace = e.getStackTrace();
    return e + (trace.length == 0 ? "" : " at " + trace[0]);
  }

  private static final class Finisher extends Thread {
    Finisher() {
      super("sonde agent shutdown");
    }

    @Override
    public void run() {
      finish();
    }
  }
}
