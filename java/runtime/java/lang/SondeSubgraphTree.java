// SPDX-License-Identifier: Apache-2.0
package java.lang;

import static java.lang.SondeSubgraph.BASE;
import static java.lang.SondeSubgraph.U;

import jdk.internal.misc.Unsafe;

/** The contexts of a thread inside a root: SubgraphEntry, SubgraphTree and SubgraphNode of src/arena/layout.h. */
final class SondeSubgraphTree {
  private SondeSubgraphTree() {}

  static final int ENTRY_BITS = 5;
  static final int ENTRY_THREAD = 8;
  static final int ENTRY_TREE = 16;
  static final int ENTRY_OWN = 24;
  static final int TREE_NEXT = 0;
  static final int TREE_END = 8;
  static final int TREE_ROOT = 16;
  static final int TREE_NODES = 24;
  static final int TREE_OWN = 32;
  static final int TREE_LOST = 40;
  static final int TREE_NOBODY = 56;
  static final int NODE_MASK = 4;
  static final int NODE_CALLS = 8;
  static final int NODE_TIME = 16;
  static final int NODE_THROWN = 24;
  static final int NODE_PARENT = 32;
  static final int NODE_CHILD = 40;
  static final int NODE_SIBLING = 48;
  static final int NODE_OWN = 56;
  static final int NODE_BYTECODES = 64;
  static final int NODE_SLOTS = 72;
  static final int NODE_SIZE = 80;
  static final int MOST_SLOTS = 1024;

  /** 0 if there is no room. */
  static long newNode(long tree, long caller, int method, int slots) {
    final Unsafe u = U;
    final long node = allocate(tree, NODE_SIZE + 8 * slots);
    if (node == 0L) return 0L;
    fill(tree, node, method, slots);
    u.putLong(node + (BASE + NODE_PARENT), caller);
    u.putLong(node + (BASE + NODE_SIBLING), u.getLong(caller + (BASE + NODE_CHILD)));
    u.putLongRelease(null, caller + (BASE + NODE_CHILD), node);
    widen(tree, caller);
    return node;
  }

  /** The same for a root, behind its times. */
  static long newRoot(long tree, int method, int slots) {
    final Unsafe u = U;
    final long memory = allocate(tree, SondeRootTimes.SIZE + NODE_SIZE + 8 * slots);
    if (memory == 0L) return 0L;
    final long node = memory + SondeRootTimes.SIZE;
    fill(tree, node, method, slots);
    u.putLong(node + (BASE + NODE_SIBLING), u.getLong(tree + (BASE + TREE_ROOT)));
    u.putLongRelease(null, tree + (BASE + TREE_ROOT), node);
    return node;
  }

  private static void fill(long tree, long node, int method, int slots) {
    final Unsafe u = U;
    u.putInt(node + BASE, method);
    u.putInt(node + (BASE + NODE_MASK), (slots - 1) << 3);
    u.putLong(node + (BASE + NODE_SLOTS), node + NODE_SIZE);
    for (int i = 0; i < slots; i++) u.putLong(node + (BASE + NODE_SIZE) + 8 * i, tree + TREE_NOBODY);
    u.putLong(tree + (BASE + TREE_NODES), u.getLong(tree + (BASE + TREE_NODES)) + 1);
  }

  /** Slots for twice as many callees if there are more callees than slots. */
  private static void widen(long tree, long caller) {
    final Unsafe u = U;
    final int slots = (u.getInt(caller + (BASE + NODE_MASK)) >>> 3) + 1;
    int callees = 0;
    for (long n = u.getLong(caller + (BASE + NODE_CHILD)); n != 0L; n = u.getLong(n + (BASE + NODE_SIBLING))) callees++;
    if (callees <= slots || slots >= MOST_SLOTS) return;
    final long table = allocate(tree, 16 * slots);
    if (table == 0L) return;
    final int mask = (2 * slots - 1) << 3;
    for (int i = 0; i < 2 * slots; i++) u.putLong(table + BASE + 8 * i, tree + TREE_NOBODY);
    for (long n = u.getLong(caller + (BASE + NODE_CHILD)); n != 0L; n = u.getLong(n + (BASE + NODE_SIBLING))) {
      u.putLong(table + BASE + ((u.getInt(n + BASE) << 3) & mask), n);
    }
    u.putLong(caller + (BASE + NODE_SLOTS), table);
    u.putInt(caller + (BASE + NODE_MASK), mask);
  }

  private static long allocate(long tree, int size) {
    final Unsafe u = U;
    long next = u.getLong(tree + (BASE + TREE_NEXT));
    if (next + size > u.getLong(tree + (BASE + TREE_END))) {
      if (!SondeSubgraph.grow(tree, size)) return 0L;
      next = u.getLong(tree + (BASE + TREE_NEXT));
    }
    u.putLong(tree + (BASE + TREE_NEXT), next + size);
    return next;
  }
}
