// SPDX-License-Identifier: Apache-2.0
package org.sonde.api;

/** The call tree of one thread. Its callees are what the JVM called, {@code main} or {@code run} for example. */
public final class RootContext extends InvocationContext {
  private final Thread thread;
  final long tree;
  boolean isOpen;
  boolean isFinal;

  RootContext(Thread thread, long tree) {
    super(null, null, 0, 0);
    this.thread = thread;
    this.tree = tree;
  }

  /** Whose tree it is. */
  public Thread thread() {
    return thread;
  }

  /** True in the last call for this thread. */
  public boolean isFinal() {
    return isFinal;
  }

  @Override
  RootContext root() {
    return this;
  }
}
