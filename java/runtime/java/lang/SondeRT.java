// SPDX-License-Identifier: Apache-2.0
package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * What instrumented methods call: it maintains the call tree of the current thread in the arena.
 *
 * <p>The layout of nodes and call sites is that of src/arena/layout.h. An address here is a real address minus
 * {@link #BASE}, so that the zero a new thread starts with is the address of memory that exists: the nowhere below
 * {@link #NOWHERE_END}. Its first half means "this thread has no tree yet", its second half is the sink, where
 * whatever must not be counted goes. BASE fits a 32-bit displacement, so compiled code adds it for free.
 *
 * <p>Nothing here may allocate, block or call code that is instrumented. There is no static initialiser, for these
 * methods are called while the VM boots; everything waits for {@link #on}, which the agent sets at VMInit.
 */
public final class SondeRT {
  private SondeRT() {}

  /** Agent and runtime agree on these (src/agent/session/nowhere.h). */
  static final long BASE = 0x70000000L;

  static final long SINK = 0x200000L;
  static final long NOWHERE_END = 0x400000L;

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
  static final int SITE_SIZE = 24;
  static final int SITE_OFFSET = 4;
  static final int SITE_CHILD = 8;
  static final int SITE_BYTECODES = 16;
  static final long ALIAS_FOLDED = 1;
  static final long ALIAS_CUT = 2;
  static final int EXTRA_NEXT = 24;
  static final int EXTRA_OF = 32;
  static final int EXTRA_SIZE = 40;

  /** Open from VMInit on. Stable: compiled code does not test it. */
  @Stable static boolean on;

  /** In a class of its own, so that it is not initialised before the VM is ready for it. */
  static final class Memory {
    private Memory() {}

    static final Unsafe U = Unsafe.getUnsafe();
  }

  // --- a method that calls others -------------------------------------------------------------------------------

  /** The call site we were called from, to be given to {@link #enter} and, at the end, to {@link #exit}. */
  @ForceInline
  public static long site() {
    return on ? Thread.currentThread().$sondeSite : 0L;
  }

  /** Counts the call and returns the node of this method in this context. */
  @ForceInline
  public static long enter(long site, int method, int sites) {
    if (!on) return 0L;
    final Unsafe u = Memory.U;
    long node = u.getInt(site + BASE) == method ? u.getLong(site + (BASE + SITE_CHILD)) : node(site, method, sites);
    u.putLong(node + (BASE + NODE_CALLS), u.getLong(node + (BASE + NODE_CALLS)) + 1);
    Thread.currentThread().$sondeSite = node + NODE_SITES;
    return node;
  }

  /** Before a call: {@code offset} is that of the call site in the node. */
  @ForceInline
  public static void call(long node, int offset) {
    if (on) Thread.currentThread().$sondeSite = node + offset;
  }

  /** Before a call of a method that cannot be instrumented: it is counted here. */
  @ForceInline
  public static void callNative(long node, int offset, int method) {
    if (!on) return;
    final Unsafe u = Memory.U;
    long site = node + offset;
    Thread.currentThread().$sondeSite = site;
    if (u.getInt(site + BASE) != method) site = leafSite(site, method);
    u.putLong(site + (BASE + SITE_CHILD), u.getLong(site + (BASE + SITE_CHILD)) + 1);
  }

  /** Adds executed bytecodes while the method goes on. */
  @ForceInline
  public static void add(long node, long bytecodes) {
    if (!on) return;
    final Unsafe u = Memory.U;
    u.putLong(node + (BASE + NODE_BYTECODES), u.getLong(node + (BASE + NODE_BYTECODES)) + bytecodes);
  }

  /** The end of a method, normal or not. */
  @ForceInline
  public static void exit(long node, long bytecodes, long site) {
    if (!on) return;
    final Unsafe u = Memory.U;
    u.putLong(node + (BASE + NODE_BYTECODES), u.getLong(node + (BASE + NODE_BYTECODES)) + bytecodes);
    Thread.currentThread().$sondeSite = site;
  }

  /** The end of a method whose bytecodes are known from its calls. */
  @ForceInline
  public static void exit(long site) {
    if (on) Thread.currentThread().$sondeSite = site;
  }

  // --- a leaf: its counts are in the call site of its caller ------------------------------------------------------

  @ForceInline
  public static void leaf(int method) {
    if (!on) return;
    final Unsafe u = Memory.U;
    long site = Thread.currentThread().$sondeSite;
    if (u.getInt(site + BASE) != method) site = leafSite(site, method);
    u.putLong(site + (BASE + SITE_CHILD), u.getLong(site + (BASE + SITE_CHILD)) + 1);
  }

  @ForceInline
  public static void leaf(long bytecodes, int method) {
    if (!on) return;
    final Unsafe u = Memory.U;
    long site = Thread.currentThread().$sondeSite;
    if (u.getInt(site + BASE) != method) site = leafSite(site, method);
    u.putLong(site + (BASE + SITE_CHILD), u.getLong(site + (BASE + SITE_CHILD)) + 1);
    u.putLong(site + (BASE + SITE_BYTECODES), u.getLong(site + (BASE + SITE_BYTECODES)) + bytecodes);
  }

  /** An exception left a single-path leaf early: takes back what was not executed. */
  @DontInline
  public static void correctLeaf(int bytecodes, int method) {
    if (!on) return;
    final Unsafe u = Memory.U;
    long site = Thread.currentThread().$sondeSite;
    if (u.getInt(site + BASE) != method) site = leafSite(site, method);
    u.putLong(site + (BASE + SITE_BYTECODES), u.getLong(site + (BASE + SITE_BYTECODES)) + bytecodes);
  }

  // --- a method whose inside must not be counted, since the JIT compiler may replace it ---------------------------

  /** To be given back to {@link #exitSink}: where application code called from an outer sink belongs. */
  @ForceInline
  public static long hidden() {
    return on ? Thread.currentThread().$sondeHidden : 0L;
  }

  @ForceInline
  public static long enterSink() {
    if (!on) return 0L;
    final Thread thread = Thread.currentThread();
    final long site = thread.$sondeSite;
    if (site < SINK || site >= NOWHERE_END) thread.$sondeHidden = site;
    thread.$sondeSite = SINK + NODE_SITES;
    return site;
  }

  @ForceInline
  public static void exitSink(long site, long hidden) {
    if (!on) return;
    final Thread thread = Thread.currentThread();
    thread.$sondeHidden = hidden;
    thread.$sondeSite = site;
  }

  // --- slow paths -------------------------------------------------------------------------------------------------

  /** The call site record of a callee without a node. */
  @DontInline
  static long leafSite(long from, int method) {
    final Unsafe u = Memory.U;
    final Thread thread = Thread.currentThread();
    final long site = locate(thread, from, method);
    if (site < NOWHERE_END || isOverflow(thread, site)) return site;
    final long found = find(site, method);
    if (found != 0) return found;
    if (u.getInt(site + BASE) != 0) return extra(thread, site, method);
    u.putIntRelease(null, site + BASE, method);
    count(thread.$sondeTree);
    return site;
  }

  /** The node of a callee, made if it is new here. */
  @DontInline
  static long node(long from, int method, int sites) {
    final Unsafe u = Memory.U;
    final Thread thread = Thread.currentThread();
    final long site = locate(thread, from, method);
    if (site < NOWHERE_END || isOverflow(thread, site)) return site - NODE_SITES;
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
    if (node == 0) return overflow(tree);
    u.putInt(node + BASE, method);
    u.putInt(node + (BASE + 4), sites);
    for (int i = 0, offset = NODE_SITES; i < sites; i++, offset += SITE_SIZE) {
      u.putInt(node + offset + (BASE + SITE_OFFSET), offset);
    }
    u.putLong(node + (BASE + NODE_DEPTH), u.getLong(caller(site) + (BASE + NODE_DEPTH)) + 1);
    count(tree);
    u.putLong(node + (BASE + NODE_PARENT), taken ? node + size : site);
    if (taken) {
      link(node + size, site, method, node);
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
    link(extra, site, method, node);
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
   * they are called from the sink, as by reflection.
   */
  private static long locate(Thread thread, long site, int method) {
    if (site >= SINK && site < NOWHERE_END) {
      if ((method & 1) == 0) return SINK + NODE_SITES;
      site = thread.$sondeHidden;
    }
    if (site < SINK) {
      if (thread.$sondeTree == 0 && !adopt(thread)) return SINK + NODE_SITES;
      return thread.$sondeRoot;
    }
    final long overflow = overflow(thread.$sondeTree);
    return overflow != 0 && site >= overflow && site < overflow + SINK ? overflow + NODE_SITES : site;
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
    for (long e = u.getLong(node + (BASE + NODE_EXTRAS)); e != 0; e = u.getLong(e + (BASE + EXTRA_NEXT))) {
      if (u.getInt(e + BASE) == method && u.getLong(e + (BASE + EXTRA_OF)) == site) return e;
    }
    return 0L;
  }

  /** A further callee, without a node, of a site that is taken. */
  private static long extra(Thread thread, long site, int method) {
    final long tree = thread.$sondeTree;
    final long extra = allocate(tree, EXTRA_SIZE);
    if (extra == 0) return overflow(tree) + NODE_SITES;
    count(tree);
    link(extra, site, method, 0L);
    return extra;
  }

  /** Fills a record for a further callee and publishes it. */
  private static void link(long extra, long site, int method, long child) {
    final Unsafe u = Memory.U;
    final long caller = caller(site);
    u.putInt(extra + BASE, method);
    u.putLong(extra + (BASE + SITE_CHILD), child);
    u.putLong(extra + (BASE + EXTRA_NEXT), u.getLong(caller + (BASE + NODE_EXTRAS)));
    u.putLong(extra + (BASE + EXTRA_OF), site);
    u.putLongRelease(null, caller + (BASE + NODE_EXTRAS), extra);
  }

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

  private static long overflow(long tree) {
    return Memory.U.getLong(tree + (BASE + TREE_OVERFLOW));
  }

  /** Gives the thread a tree. While this runs, the thread's own doings go to the sink. */
  private static boolean adopt(Thread thread) {
    thread.$sondeSite = SINK + NODE_SITES;
    final long tree = newTree(thread);
    if (tree == 0) return false;
    thread.$sondeTree = tree;
    thread.$sondeRoot = Memory.U.getLong(tree + (BASE + TREE_ROOT)) + NODE_SITES;
    thread.$sondeSite = thread.$sondeRoot;
    return true;
  }

  /** The address of a TreeHeader; 0 if the arena has no room even for that. */
  static native long newTree(Thread thread);

  /** Another chunk for the tree. If there is none: false, and the tree has an overflow node. */
  private static native boolean grow(long tree, int size);
}
