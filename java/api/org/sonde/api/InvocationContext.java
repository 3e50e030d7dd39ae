// SPDX-License-Identifier: Apache-2.0
package org.sonde.api;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A method in a calling context: a node of a thread's call tree. The same context is the same object in every {@link
 * Profiler#report report} of its thread.
 *
 * <p>Contexts know call sites: a method that is called from two places of its caller is two contexts.
 *
 * <p>Only to be asked during a report, on the agent's thread; at other times methods that look into the tree throw {@link
 * IllegalStateException}.
 */
public class InvocationContext {
  // What AgentThread.callees() tells of each.
  private static final int RECORD = 0;
  private static final int NODE = 1;
  private static final int METHOD = 2;
  private static final int LINE = 3;
  private static final int CALLS = 4;
  private static final int BYTECODES = 5;
  private static final int SIZE = 6;

  private final InvocationContext caller;
  private final MethodId method;
  private final long node; // 0: it calls no others
  private final int line;
  private long calls;
  private long bytecodes;
  private long callsBefore;
  private long bytecodesBefore;
  private Map<Long, InvocationContext> callees; // by their record in the tree
  private List<InvocationContext> calleeList;
  private long report = -1; // that the callees were looked up in

  InvocationContext(InvocationContext caller, MethodId method, long node, int line) {
    this.caller = caller;
    this.method = method;
    this.node = node;
    this.line = line;
  }

  /** Null for the root. */
  public final MethodId method() {
    return method;
  }

  /** Null for the root. */
  public final InvocationContext caller() {
    return caller;
  }

  /** Of the source, where the caller calls; 0 if it is not known. */
  public final int line() {
    return line;
  }

  /** How often it was called here, since {@link #reset()} or the thread's beginning. */
  public final long calls() {
    return calls - callsBefore;
  }

  /** How many bytecodes it executed itself, without those of its callees, since {@link #reset()} or the thread's beginning. */
  public final long bytecodes() {
    return bytecodes - bytecodesBefore;
  }

  /** From now on {@link #calls()} and {@link #bytecodes()} begin at zero. The recording that Sonde writes keeps its counts. */
  public final void reset() {
    callsBefore = calls;
    bytecodesBefore = bytecodes;
  }

  /** What it called, in the order of its call sites. Not to be changed. */
  public final Collection<InvocationContext> callees() {
    final RootContext root = root();
    if (!root.isOpen) throw new IllegalStateException("a call tree can be looked at during a report only");
    if (report != AgentThread.reports()) refresh(root);
    return calleeList;
  }

  RootContext root() {
    return caller.root();
  }

  /** The callee with this record; null if there is none. */
  final InvocationContext callee(long record) {
    callees();
    return callees.get(record);
  }

  private void refresh(RootContext root) {
    report = AgentThread.reports();
    if (callees == null) callees = new HashMap<>();
    final long[] found = node == 0 && this != root ? new long[0] : AgentThread.callees(root.tree, node);
    final List<InvocationContext> list = new ArrayList<>(found.length / SIZE);
    for (int i = 0; i < found.length; i += SIZE) {
      InvocationContext callee = callees.get(found[i + RECORD]);
      if (callee == null) {
        final MethodId called = AgentThread.method((int) found[i + METHOD]);
        callee = new InvocationContext(this, called, found[i + NODE], (int) found[i + LINE]);
        callees.put(found[i + RECORD], callee);
      }
      callee.calls = found[i + CALLS];
      callee.bytecodes = found[i + BYTECODES];
      list.add(callee);
    }
    calleeList = Collections.unmodifiableList(list);
  }

  @Override
  public String toString() {
    return method == null ? "(root)" : method + " " + calls() + " calls, " + bytecodes() + " bytecodes";
  }
}
