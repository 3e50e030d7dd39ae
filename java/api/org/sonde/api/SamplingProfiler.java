// SPDX-License-Identifier: Apache-2.0
package org.sonde.api;

/**
 * An agent that looks at the stack of a thread whenever it has executed so many bytecodes ({@code --mode bytecode}). When
 * these samples are due depends on nothing but what the thread executes: they are the same in every run.
 */
public interface SamplingProfiler extends Agent {
  /**
   * A thread executes its first bytecode.
   *
   * @return after how many bytecodes of this thread {@link #processSample} is called for the first time; {@link
   *     Long#MAX_VALUE} for never
   */
  long register(Thread thread);

  /**
   * A thread has executed its bytecodes.
   *
   * <p>The array is the thread's: the next call has the same one, or a larger one, and entries that stand for the same call as last time
   * are not written again. So an agent may leave objects of its own there, for example the place in its tree that the
   * path up to here leads to, and begin at the first entry that is not one of them.
   *
   * @param thread whose stack it is; it waits
   * @param stack its methods, from the outermost on; {@code stack[depth - 1]} is the one that used up the bytecodes
   * @param depth how many there are, at least one
   * @param bytecodes how many the thread has executed since the last call, or since it began
   * @return after how many bytecodes of this thread this is called again
   */
  long processSample(Thread thread, MethodId[] stack, int depth, long bytecodes);

  /**
   * A thread has ended, or the JVM does.
   *
   * @param bytecodes how many the thread has executed since the last call
   */
  default void end(Thread thread, long bytecodes) {}
}
