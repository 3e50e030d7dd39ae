// SPDX-License-Identifier: Apache-2.0
package org.sonde.api;

/**
 * What all profiling agents have in common. An agent implements {@link SamplingProfiler} ({@code --mode bytecode}) or
 * {@link Profiler} ({@code --mode exact}), or both, and has a public constructor without parameters. {@code sonde run
 * --agent-class NAME --agent-path JAR} makes one object of it, after the JVM has booted and before {@code main}.
 *
 * <p><b>Threads.</b> All methods of an agent, its constructor included, are called on one thread that Sonde has for it, one
 * call at a time; no lock is needed among them. The thread that a call is about waits meanwhile. Code of the agent is
 * never profiled, nor what it calls, nor what runs on threads that it starts.
 *
 * <p><b>Mistakes.</b> An exception, or a granularity of zero or less, is reported on stderr and counted in the recording;
 * after ten of them the agent is switched off. If a call takes longer than {@code --agent-limit}, the agent is switched off at
 * once and the program goes on. So do not wait in a call for anything that a thread of the program may hold: print, for
 * example, from a thread of your own.
 */
public interface Agent {
  /** Asked once, after the constructor. */
  default MethodIdFactory methodIdFactory() {
    return MethodId::of;
  }

  /**
   * The JVM ends, by {@code System.exit} or because the last thread of the program did, but not if it is killed. All threads have
   * had their last call. Agents may use shutdown hooks of their own instead, which run at the same time as this.
   */
  default void shutdown() {}
}
