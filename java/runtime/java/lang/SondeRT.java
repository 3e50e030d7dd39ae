// SPDX-License-Identifier: Apache-2.0
package java.lang;

import static java.lang.SondeTree.NODE_BYTECODES;
import static java.lang.SondeTree.NODE_CALLS;
import static java.lang.SondeTree.NODE_SITES;
import static java.lang.SondeTree.SITE_BYTECODES;
import static java.lang.SondeTree.SITE_CHILD;

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

  /** Open from VMInit on. Stable: compiled code does not test it. */
  @Stable static boolean on;

  /** The address of the table of methods; set before {@link #on}. */
  @Stable static long methods;

  // After attach: call sites that methods have in their variables which run since an earlier recording lie elsewhere.
  static long arenaBegin;

  /** 0: there is no earlier recording. */
  static long arenaEnd;

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
    final boolean isFirst = u.getInt(site + BASE) == method; // of the callees of that site
    final long node = isFirst ? u.getLong(site + (BASE + SITE_CHILD)) : SondeTree.node(site, method, sites);
    u.putLong(node + (BASE + NODE_CALLS), u.getLong(node + (BASE + NODE_CALLS)) + 1);
    Thread.currentThread().$sondeSite = node + NODE_SITES;
    return node;
  }

  /** Before a call: {@code offset} is that of the call site in the node. */
  @ForceInline
  public static void call(long node, int offset) {
    if (on) Thread.currentThread().$sondeSite = node + offset;
  }

  /**
   * Before a call of a method that cannot be instrumented: it is counted here. Nobody else can have come first to this
   * call site, so that all of it is done in place: a call of ours that is hardly ever made would still cost the compiler
   * all that it knows. A site without an offset is in no tree but in the sink or an overflow node, whose first one
   * stands for all.
   */
  @ForceInline
  public static void callNative(long node, int offset, int method) {
    if (!on) return;
    final Unsafe u = Memory.U;
    final Thread thread = Thread.currentThread();
    long site = node + offset;
    thread.$sondeSite = site;
    final long first = u.getLong(site + BASE); // its callee, if it has one yet, and its offset
    if ((int) first != method) {
      if (first == (long) offset << 32) {
        SondeTree.claim(thread.$sondeTree, site, method);
      } else {
        site = node + NODE_SITES;
      }
    }
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
    if (u.getInt(site + BASE) != method) site = SondeTree.leafSite(site, method);
    u.putLong(site + (BASE + SITE_CHILD), u.getLong(site + (BASE + SITE_CHILD)) + 1);
  }

  @ForceInline
  public static void leaf(long bytecodes, int method) {
    if (!on) return;
    final Unsafe u = Memory.U;
    long site = Thread.currentThread().$sondeSite;
    if (u.getInt(site + BASE) != method) site = SondeTree.leafSite(site, method);
    u.putLong(site + (BASE + SITE_CHILD), u.getLong(site + (BASE + SITE_CHILD)) + 1);
    u.putLong(site + (BASE + SITE_BYTECODES), u.getLong(site + (BASE + SITE_BYTECODES)) + bytecodes);
  }

  /** An exception left a single-path leaf early: takes back what was not executed. */
  @DontInline
  public static void correctLeaf(int bytecodes, int method) {
    if (!on) return;
    final Unsafe u = Memory.U;
    long site = Thread.currentThread().$sondeSite;
    if (u.getInt(site + BASE) != method) site = SondeTree.leafSite(site, method, false);
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

  // --- a profiling agent of the user -------------------------------------------------------------------------------

  /** More than any thread executes. */
  static final long FOREVER = Long.MAX_VALUE / 2;

  /** Where threads of the agent are, from their beginning to their end: nothing that they do is counted. */
  static final long OWN = SINK + NODE_SITES;

  /** At the end of Thread's constructors. What a thread of the agent makes is one, too. */
  public static void born(Thread child) {
    if (Thread.currentThread().$sondeHidden != OWN) return;
    child.$sondeSite = OWN;
    child.$sondeHidden = OWN;
    child.$sondeLeft = FOREVER;
  }

  /** Counts down what was executed until the agent is to be called. */
  @ForceInline
  public static void spend(long bytecodes) {
    if (!on) return;
    final Thread thread = Thread.currentThread();
    final long left = thread.$sondeLeft - bytecodes;
    thread.$sondeLeft = left;
    if (left <= 0) report(thread);
  }

  @DontInline
  private static void report(Thread thread) {
    final long tree = thread.$sondeTree;
    if (tree == 0) return;
    final boolean isNew = thread.$sondeAsked == 0;
    thread.$sondeAsked = 1;
    final long site = thread.$sondeSite;
    thread.$sondeLeft = ask(thread, tree, site >= SINK && site < NOWHERE_END ? thread.$sondeHidden : site, isNew);
  }

  /** Has the agent register the thread or look at its tree. How many bytecodes it may execute until the next time. */
  private static native long ask(Thread thread, long tree, long site, boolean isNew);
}
