// SPDX-License-Identifier: Apache-2.0
package org.sonde.api;

/** An agent that looks at the call tree of a thread whenever it has executed so many bytecodes ({@code --mode exact}). */
public interface Profiler extends Agent {
  /**
   * A thread begins.
   *
   * @param root of its call tree, which is almost empty yet
   * @return after about how many bytecodes of this thread {@link #report} is called for the first time; {@link
   *     Long#MAX_VALUE} for never
   */
  long register(Thread thread, RootContext root);

  /**
   * A thread has executed its bytecodes, or it has ended ({@link RootContext#isFinal()}), or the JVM ends. Contexts can
   * be asked until this returns; the thread waits, so they do not change.
   *
   * <p>Calls of methods that have not returned yet are counted, but not what they executed themselves, unless it is the same in
   * every invocation.
   *
   * @param root of the thread's call tree, the same object in all calls for this thread
   * @param current the method that the thread is in, or its caller if it calls no others; {@code root} at the end
   * @return after about how many bytecodes of this thread this is called again; no matter at the end
   */
  long report(RootContext root, InvocationContext current);
}
