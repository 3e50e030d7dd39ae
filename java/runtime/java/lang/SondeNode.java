// SPDX-License-Identifier: Apache-2.0
package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * A method in a context as papers/001 keeps it, to be compared with {@link SondeRT}: an object of the Java heap that knows
 * its callees by their method and remembers the last one. Used by {@code --scheme paper} and never otherwise.
 *
 * <p>Two things are different from the paper. The running method is a field of the thread instead of an additional
 * argument of every method, which reflection, method handles and the JVM itself would trip over; so it is put back at the
 * end of each method. And the trees of all threads are merged when the JVM ends, not periodically.
 *
 * <p>A node is null in methods that were entered before {@link SondeRT#on}.
 */
public final class SondeNode {
  private final int method;
  private long calls;
  private long bytecodes;
  private SondeNode last;
  private SondeNode[] callees; // by method, open addressing; null: none yet
  private int calleeCount;

  /** The roots of all threads. */
  private static SondeNode[] roots;

  private static int rootCount;

  private SondeNode(int method) {
    this.method = method;
  }

  /** Who called, to be given to {@link #enter} and, at the end, to {@link #resume}. */
  @ForceInline
  public static SondeNode caller() {
    if (!SondeRT.on) return null;
    final SondeNode node = Thread.currentThread().$sondeNode;
    return node != null ? node : root();
  }

  /** Counts the call and returns the node of this method. */
  @ForceInline
  public static SondeNode enter(SondeNode caller, int method) {
    if (caller == null) return null;
    SondeNode node = caller.last;
    if (node == null || node.method != method) node = caller.callee(method);
    node.calls++;
    Thread.currentThread().$sondeNode = node;
    return node;
  }

  /** At the start of each block. */
  @ForceInline
  public static void count(SondeNode node, int bytecodes) {
    if (node != null) node.bytecodes += bytecodes;
  }

  /** The method of this node goes on: its callee ended. */
  @ForceInline
  public static void resume(SondeNode node) {
    if (node != null) Thread.currentThread().$sondeNode = node;
  }

  @DontInline
  private static SondeNode root() {
    final SondeNode root = new SondeNode(0);
    add(root);
    Thread.currentThread().$sondeNode = root;
    return root;
  }

  private static synchronized void add(SondeNode root) {
    if (roots == null) roots = new SondeNode[16];
    if (rootCount == roots.length) roots = grown(roots);
    roots[rootCount++] = root;
  }

  private static SondeNode[] grown(SondeNode[] from) {
    final SondeNode[] to = new SondeNode[from.length * 2];
    for (int i = 0; i < from.length; i++) to[i] = from[i];
    return to;
  }

  @DontInline
  private SondeNode callee(int method) {
    if (callees == null) callees = new SondeNode[4];
    int at = slot(callees, method);
    if (callees[at] == null) {
      if (++calleeCount * 4 > callees.length * 3) {
        rehash();
        at = slot(callees, method);
      }
      callees[at] = new SondeNode(method);
    }
    return last = callees[at];
  }

  private void rehash() {
    final SondeNode[] to = new SondeNode[callees.length * 2];
    for (SondeNode node : callees) {
      if (node != null) to[slot(to, node.method)] = node;
    }
    callees = to;
  }

  /** Where the callee is, or where there is room for it. */
  private static int slot(SondeNode[] table, int method) {
    final int mask = table.length - 1;
    int at = method * 0x9E3779B1 >>> 16 & mask;
    while (table[at] != null && table[at].method != method) at = at + 1 & mask;
    return at;
  }

  /** Adds the trees of all threads to that of the current thread in the arena. */
  static synchronized void store() {
    for (int i = 0; i < rootCount; i++) roots[i].store(0L);
  }

  /** Everything below a root; {@code site} is where the root's callees belong. */
  private void store(long site) {
    SondeNode[] waiting = new SondeNode[1024];
    long[] sites = new long[1024];
    int count = 1;
    waiting[0] = this;
    sites[0] = site;
    while (count > 0) {
      final SondeNode node = waiting[--count];
      final long at = sites[count];
      if (node.callees == null) continue;
      for (SondeNode callee : node.callees) {
        if (callee == null) continue;
        if (count == waiting.length) {
          waiting = grown(waiting);
          final long[] more = new long[waiting.length];
          for (int i = 0; i < count; i++) more[i] = sites[i];
          sites = more;
        }
        waiting[count] = callee;
        sites[count++] = callee.storeItself(at) + SondeTree.NODE_SITES;
      }
    }
  }

  private long storeItself(long site) {
    final Unsafe u = SondeRT.Memory.U;
    final long node = SondeTree.node(site, method, 1);
    final long at = node + (SondeRT.BASE + SondeTree.NODE_CALLS);
    u.putLong(at, u.getLong(at) + calls);
    SondeRT.add(node, bytecodes);
    return node;
  }
}
