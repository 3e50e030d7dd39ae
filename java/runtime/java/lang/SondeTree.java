// SPDX-License-Identifier: Apache-2.0
package java.lang;

import static java.lang.SondeRT.BASE;
import static java.lang.SondeRT.NOWHERE_END;
import static java.lang.SondeRT.OWN;
import static java.lang.SondeRT.SINK;

import java.lang.SondeRT.Memory;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The call tree of a thread: what {@link SondeRT} and {@link SondeSampling} call when a context is new or is not the
 * first one of its call site. The layout is that of src/arena/layout.h; addresses, and what may be done here, are as in
 * SondeRT.
 */
final class SondeTree {
  private SondeTree() {}

  // Offsets of TreeHeader, Node and CallSite.
  static final int TREE_NEXT = 0;
  static final int TREE_END = 8;
  static final int TREE_OVERFLOW = 16;
  static final int TREE_ROOT = 24;
  static final int TREE_DEPTH_LIMIT = 32;
  static final int TREE_FOLD_RECURSION = 36;
  static final int TREE_NODES = 40;
  static final int NODE_SITES = 64;
  static final int NODE_CALLS = 8;
  static final int NODE_BYTECODES = 16;
  static final int NODE_PARENT = 24;
  static final int NODE_EXTRAS = 32;
  static final int NODE_DEPTH = 40;
  static final int NODE_INDEX = 48;
  static final int NODE_EXTRA_COUNT = 56;
  static final int SITE_SIZE = 24;
  static final int SITE_OFFSET = 4;
  static final int SITE_CHILD = 8;
  static final int SITE_BYTECODES = 16;
  static final long ALIAS_FOLDED = 1;
  static final long ALIAS_CUT = 2;
  static final int EXTRA_NEXT = 24;
  static final int EXTRA_OF = 32;
  static final int EXTRA_SIZE = 40;

  /** With more extras than this a node has an index of them. */
  static final int FEW_EXTRAS = 8;

  /** As in src/agent/session/method_table.h. */
  static final int METHODS = 1 << 25;

  static final int NO_NODE = 1 << 31;

  /** The method is in this recording: not in an earlier one only, since which it runs. */
  static final int KNOWN = 1 << 30;

  @DontInline
  static long leafSite(long from, int method) {
    return leafSite(from, method, true);
  }

  /** The call site record of a callee without a node. */
  static long leafSite(long from, int method, boolean isCall) {
    final Unsafe u = Memory.U;
    final Thread thread = Thread.currentThread();
    final long site = locate(thread, from, method);
    if (site < NOWHERE_END) return site;
    if (isOverflow(thread, site)) return isCall ? overflowSite(site - NODE_SITES, method) : site;
    final long found = find(site, method);
    if (found != 0) return found;
    final long tree = thread.$sondeTree;
    if (!isCall) return overflow(tree) + NODE_SITES; // for that is where the call was counted
    if (u.getInt(site + BASE) != 0) {
      final long extra = extra(tree, site, method);
      return extra != 0 ? extra : overflowSite(overflow(tree), method);
    }
    claim(tree, site, method);
    return site;
  }

  /** A call site that has no callee yet gets its first one, which has no node. */
  @ForceInline
  static void claim(long tree, long site, int method) {
    Memory.U.putIntRelease(null, site + BASE, method);
    count(tree);
  }

  /** The node of a callee, made if it is new here. */
  @DontInline
  static long node(long from, int method, int sites) {
    final Unsafe u = Memory.U;
    final Thread thread = Thread.currentThread();
    final long site = locate(thread, from, method);
    if (site < NOWHERE_END) return site - NODE_SITES;
    if (isOverflow(thread, site)) return overflowNode(site - NODE_SITES, method);
    final long found = find(site, method);
    if (found != 0) return u.getLong(found + (BASE + SITE_CHILD));
    final long tree = thread.$sondeTree;
    final long elsewhere = elsewhere(tree, site, method, sites);
    return elsewhere != 0 ? elsewhere : newNode(tree, site, method, sites);
  }

  private static long newNode(long tree, long site, int method, int sites) {
    final Unsafe u = Memory.U;
    final boolean taken = u.getInt(site + BASE) != 0;
    final int size = NODE_SITES + SITE_SIZE * sites;
    final long node = allocate(tree, taken ? size + EXTRA_SIZE : size);
    if (node == 0) return overflowNode(overflow(tree), method);
    u.putInt(node + BASE, method);
    u.putInt(node + (BASE + 4), sites);
    for (int i = 0, offset = NODE_SITES; i < sites; i++, offset += SITE_SIZE) {
      u.putInt(node + offset + (BASE + SITE_OFFSET), offset);
    }
    u.putLong(node + (BASE + NODE_DEPTH), u.getLong(caller(site) + (BASE + NODE_DEPTH)) + 1);
    count(tree);
    u.putLong(node + (BASE + NODE_PARENT), taken ? node + size : site);
    if (taken) {
      link(tree, node + size, site, method, node);
    } else {
      u.putLong(site + (BASE + SITE_CHILD), node);
      u.putIntRelease(null, site + BASE, method);
    }
    return node;
  }

  // --- bounded trees: decided once per call site and callee --------------------------------------------------------

  /**
   * The node of a callee that does not hang at its call site: that of the same method among its callers
   * (--fold-recursion), or one at the caller that has the largest depth (--max-depth). 0 if there is none.
   */
  private static long elsewhere(long tree, long site, int method, int sites) {
    final Unsafe u = Memory.U;
    final long caller = caller(site);
    if (u.getInt(tree + (BASE + TREE_FOLD_RECURSION)) != 0) {
      for (long node = caller; u.getInt(node + BASE) != 0; node = parent(node)) {
        if (u.getInt(node + BASE) == method) return alias(tree, site, method, node, ALIAS_FOLDED);
      }
    }
    final int limit = u.getInt(tree + (BASE + TREE_DEPTH_LIMIT));
    final long depth = u.getLong(caller + (BASE + NODE_DEPTH));
    if (limit == 0 || depth < limit) return 0L;
    final long top = (depth == limit ? caller : parent(caller)) + NODE_SITES;
    if (top == site) return 0L;
    final long found = find(top, method);
    final long node = found != 0 ? u.getLong(found + (BASE + SITE_CHILD)) : newNode(tree, top, method, sites);
    return node == overflow(tree) ? node : alias(tree, site, method, node, ALIAS_CUT);
  }

  /** Lets a call site know a node that hangs elsewhere; without room for it, the search is repeated next time. */
  private static long alias(long tree, long site, int method, long node, long kind) {
    final Unsafe u = Memory.U;
    if (u.getInt(site + BASE) == 0) {
      u.putLong(site + (BASE + SITE_CHILD), node);
      u.putLong(site + (BASE + SITE_BYTECODES), kind);
      u.putIntRelease(null, site + BASE, method);
      return node;
    }
    final long extra = allocate(tree, EXTRA_SIZE);
    if (extra == 0) return node;
    u.putLong(extra + (BASE + SITE_BYTECODES), kind);
    link(tree, extra, site, method, node);
    return node;
  }

  private static long caller(long site) {
    return site - Memory.U.getInt(site + (BASE + SITE_OFFSET));
  }

  private static long parent(long node) {
    final Unsafe u = Memory.U;
    final long site = u.getLong(node + (BASE + NODE_PARENT));
    return caller(u.getInt(site + (BASE + SITE_OFFSET)) == 0 ? u.getLong(site + (BASE + EXTRA_OF)) : site);
  }

  /**
   * Where a method is called from, if that is not what the thread says: a site in the sink or the overflow node stands
   * for all of it, and a thread without a tree gets one. Methods of the application (odd numbers) are counted even if
   * they are called from the sink, as by reflection. What is called from a foreign site has no context: it belongs to
   * the root.
   */
  private static long locate(Thread thread, long site, int method) {
    if (method < METHODS && (Memory.U.getInt(SondeRT.methods + 4L * method) & KNOWN) == 0) return SINK + NODE_SITES;
    if (site >= SINK && site < NOWHERE_END) {
      if ((method & 1) == 0 || thread.$sondeHidden == OWN) return SINK + NODE_SITES;
      site = thread.$sondeHidden;
    }
    final long overflow = overflow(thread.$sondeTree);
    if (overflow != 0 && site >= overflow && site < overflow + SINK) return overflow + NODE_SITES;
    if (site < SINK || isForeign(site)) {
      if (thread.$sondeTree == 0 && !adopt(thread)) return SINK + NODE_SITES;
      return thread.$sondeRoot;
    }
    return site;
  }

  private static boolean isForeign(long site) {
    return SondeRT.arenaEnd != 0 && (site < SondeRT.arenaBegin || site >= SondeRT.arenaEnd);
  }

  private static boolean isOverflow(Thread thread, long site) {
    return site == overflow(thread.$sondeTree) + NODE_SITES;
  }

  /** The record of this callee at this site, 0 if there is none. */
  private static long find(long site, int method) {
    final Unsafe u = Memory.U;
    final int first = u.getInt(site + BASE);
    if (first == method) return site;
    if (first == 0) return 0L;
    final long node = caller(site);
    final long index = u.getLong(node + (BASE + NODE_INDEX));
    if (index != 0) return u.getLong(slot(index, site, method) + BASE);
    for (long e = u.getLong(node + (BASE + NODE_EXTRAS)); e != 0; e = u.getLong(e + (BASE + EXTRA_NEXT))) {
      if (u.getInt(e + BASE) == method && u.getLong(e + (BASE + EXTRA_OF)) == site) return e;
    }
    return 0L;
  }

  /** A further callee, without a node, of a site that is taken; 0 if the arena is full. */
  private static long extra(long tree, long site, int method) {
    final long extra = allocate(tree, EXTRA_SIZE);
    if (extra == 0) return 0L;
    count(tree);
    link(tree, extra, site, method, 0L);
    return extra;
  }

  /** Fills a record for a further callee and publishes it. */
  private static void link(long tree, long extra, long site, int method, long child) {
    final Unsafe u = Memory.U;
    final long caller = caller(site);
    u.putInt(extra + BASE, method);
    u.putLong(extra + (BASE + SITE_CHILD), child);
    u.putLong(extra + (BASE + EXTRA_NEXT), u.getLong(caller + (BASE + NODE_EXTRAS)));
    u.putLong(extra + (BASE + EXTRA_OF), site);
    u.putLongRelease(null, caller + (BASE + NODE_EXTRAS), extra);
    index(tree, caller, extra);
  }

  /**
   * A site may have thousands of callees. An index is a hash table in the arena: a word with its number of slots, a
   * power of two, then a word for each slot with the address of an ExtraCallSite, 0 if it is free. At most half of
   * them are taken. If there is no room for it the list has to do, however long it is.
   */
  private static void index(long tree, long node, long extra) {
    final Unsafe u = Memory.U;
    final long count = u.getLong(node + (BASE + NODE_EXTRA_COUNT)) + 1;
    u.putLong(node + (BASE + NODE_EXTRA_COUNT), count);
    long index = u.getLong(node + (BASE + NODE_INDEX));
    if (index != 0 && 2 * count <= u.getLong(index + BASE)) {
      u.putLong(slot(index, extra) + BASE, extra);
      return;
    }
    final boolean isTurn = count >= FEW_EXTRAS && (count & (count - 1)) == 0; // not at every call if there is no room
    if (index == 0 && !isTurn) return;
    int slots = FEW_EXTRAS;
    while (slots < 4 * count && slots < 1 << 24) slots *= 2;
    index = slots < 4 * count ? 0L : allocate(tree, 8 * slots + 8);
    u.putLong(node + (BASE + NODE_INDEX), index);
    if (index == 0) return;
    u.putLong(index + BASE, slots);
    for (long e = extra; e != 0; e = u.getLong(e + (BASE + EXTRA_NEXT))) u.putLong(slot(index, e) + BASE, e);
  }

  private static long slot(long index, long extra) {
    return slot(index, Memory.U.getLong(extra + (BASE + EXTRA_OF)), Memory.U.getInt(extra + BASE));
  }

  /** The slot that has this callee of this site, or the free one that it belongs to. */
  private static long slot(long index, long site, int method) {
    final Unsafe u = Memory.U;
    final long mask = u.getLong(index + BASE) - 1;
    for (long i = ((site >>> 3) + method * 0x9E3779B1L) * 0x9E3779B97F4A7C15L >>> 32; ; i++) {
      final long slot = index + 8 + ((i & mask) << 3);
      final long e = u.getLong(slot + BASE);
      if (e == 0 || (u.getInt(e + BASE) == method && u.getLong(e + (BASE + EXTRA_OF)) == site)) return slot;
    }
  }

  @ForceInline
  private static void count(long tree) {
    final Unsafe u = Memory.U;
    u.putLong(tree + (BASE + TREE_NODES), u.getLong(tree + (BASE + TREE_NODES)) + 1);
  }

  /** Zeroed memory in the tree's chunk, or 0 if the arena is full. */
  private static long allocate(long tree, int size) {
    final Unsafe u = Memory.U;
    size = (size + 7) & ~7;
    long next = u.getLong(tree + (BASE + TREE_NEXT));
    if (next + size > u.getLong(tree + (BASE + TREE_END))) {
      if (!grow(tree, size)) return 0L;
      next = u.getLong(tree + (BASE + TREE_NEXT));
    }
    u.putLong(tree + (BASE + TREE_NEXT), next + size);
    return next;
  }

  /**
   * The overflow node stands for all methods. Where bytecodes are derived from calls, it has to be done now: later
   * nobody knows whose calls they were.
   */
  private static long overflowNode(long node, int method) {
    final Unsafe u = Memory.U;
    u.putLong(node + (BASE + NODE_BYTECODES), u.getLong(node + (BASE + NODE_BYTECODES)) + constantBytecodes(method));
    return node;
  }

  private static long overflowSite(long node, int method) {
    overflowNode(node, method);
    return node + NODE_SITES;
  }

  private static int constantBytecodes(int method) {
    return method < METHODS ? Memory.U.getInt(SondeRT.methods + 4L * method) & ~(NO_NODE | KNOWN) : 0;
  }

  private static long overflow(long tree) {
    return Memory.U.getLong(tree + (BASE + TREE_OVERFLOW));
  }

  /** Gives the thread a tree. While this runs, the thread's own doings go to the sink. */
  private static boolean adopt(Thread thread) {
    thread.$sondeSite = SINK + NODE_SITES;
    final long tree = newTree(thread);
    if (tree == 0) return false;
    thread.$sondeRoot = Memory.U.getLong(tree + (BASE + TREE_ROOT)) + NODE_SITES;
    thread.$sondeTree = tree;
    thread.$sondeSite = thread.$sondeRoot;
    return true;
  }

  /** The address of a TreeHeader; 0 if the arena has no room even for that. */
  static native long newTree(Thread thread);

  /** Another chunk for the tree. If there is none: false, and the tree has an overflow node. */
  private static native boolean grow(long tree, int size);
}
