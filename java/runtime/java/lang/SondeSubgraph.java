// SPDX-License-Identifier: Apache-2.0
package java.lang;

import static java.lang.SondeSubgraphTree.ENTRY_BITS;
import static java.lang.SondeSubgraphTree.ENTRY_OWN;
import static java.lang.SondeSubgraphTree.ENTRY_THREAD;
import static java.lang.SondeSubgraphTree.ENTRY_TREE;
import static java.lang.SondeSubgraphTree.NODE_BYTECODES;
import static java.lang.SondeSubgraphTree.NODE_CALLS;
import static java.lang.SondeSubgraphTree.NODE_CHILD;
import static java.lang.SondeSubgraphTree.NODE_MASK;
import static java.lang.SondeSubgraphTree.NODE_OWN;
import static java.lang.SondeSubgraphTree.NODE_PARENT;
import static java.lang.SondeSubgraphTree.NODE_SIBLING;
import static java.lang.SondeSubgraphTree.NODE_SLOTS;
import static java.lang.SondeSubgraphTree.NODE_THROWN;
import static java.lang.SondeSubgraphTree.NODE_TIME;
import static java.lang.SondeSubgraphTree.TREE_LOST;
import static java.lang.SondeSubgraphTree.TREE_OWN;
import static java.lang.SondeSubgraphTree.TREE_ROOT;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * What instrumented methods call in modes subgraph and region: calls and times per context, for threads that are inside
 * a root method.
 *
 * <p>A thread's place is an entry of a table that is indexed by its number: nothing is added to java.lang.Thread, so this
 * works in a JVM that runs already. An entry is 0 for threads outside. Each instrumented method keeps in locals the entry,
 * the node of its caller, its own node and when it began; so its end needs no lookup. The layout of entries, trees and
 * nodes is that of src/arena/layout.h; addresses of trees and nodes are real ones minus {@link SondeRT#BASE}.
 *
 * <p>A frame may outlive its recording. Its node is then no longer where its thread is, and its end changes nothing.
 */
public final class SondeSubgraph {
  private SondeSubgraph() {}

  static final long BASE = SondeRT.BASE;
  static final Unsafe U = Unsafe.getUnsafe();

  /** The table of threads; the same for the life of the JVM. */
  @Stable static long threads;

  /** How many entries it has, less one. */
  @Stable static long threadMask;

  /** Where java.lang.Thread keeps its number. */
  @Stable static long threadNumber;

  /** A byte per call site: not 0 while its callee is not known to be instrumented. */
  @Stable static long sites;

  /** Where it says which round of bare calls this is. */
  @Stable static long round;

  /** Whether roots may be entered. */
  static volatile boolean open;

  /** Whether roots run bare: nothing below them is instrumented yet, nor asked for. */
  static volatile boolean bare;

  /**
   * Receivers' classes by call site: the last one, and all of them in a hash table of {@link Seen}. Without elements
   * while nobody asks.
   */
  static Object[] last = new Object[0];

  static Seen[] seen = new Seen[0];

  /** A class that a call site has had as a receiver. */
  static final class Seen {
    final Class<?> receiver;
    final int site;

    Seen(Class<?> receiver, int site) {
      this.receiver = receiver;
      this.site = site;
    }
  }

  // --- where a thread is ------------------------------------------------------------------------------------------

  /** The thread's entry if it is inside a root, else 0. */
  @ForceInline
  public static long inside() {
    final long thread = U.getLong(Thread.currentThread(), threadNumber);
    final long entry = threads + ((thread & threadMask) << ENTRY_BITS);
    if (U.getLong(entry) == 0L) return 0L;
    return U.getLong(entry + ENTRY_THREAD) == thread ? entry : 0L;
  }

  /** The node of the method that called, 0 outside. */
  @ForceInline
  public static long caller(long entry) {
    return entry == 0L ? 0L : U.getLong(entry);
  }

  /** Of a method that is followed but not measured: the node of the nearest caller that is. */
  @ForceInline
  public static long current() {
    return caller(inside());
  }

  // --- methods ----------------------------------------------------------------------------------------------------

  /** Counts the call and returns the node of this method in this context. */
  @ForceInline
  public static long enter(long entry, long caller, int method, int slots) {
    if (entry == 0L) return 0L;
    final Unsafe u = U;
    final long at = u.getLong(caller + (BASE + NODE_SLOTS)) + ((method << 3) & u.getInt(caller + (BASE + NODE_MASK)));
    long node = u.getLong(at + BASE);
    if (u.getInt(node + BASE) != method) {
      node = callee(entry, caller, method, slots);
      if (node == 0L) return 0L;
    }
    u.putLong(node + (BASE + NODE_CALLS), u.getLong(node + (BASE + NODE_CALLS)) + 1);
    u.putLong(entry, node);
    return node;
  }

  @ForceInline
  public static long start(long node) {
    return node == 0L ? 0L : System.nanoTime();
  }

  public static long startCpu(long node) {
    return node == 0L ? 0L : cpuTime();
  }

  /** The end of a method that is not timed. */
  @ForceInline
  public static void exit(long entry, long caller, long node) {
    if (entry == 0L) return;
    if (U.getLong(entry) != node) {
      astray(entry, caller, node);
    } else {
      U.putLong(entry, caller);
    }
  }

  @ForceInline
  public static void exit(long entry, long caller, long node, long start) {
    if (entry == 0L) return;
    final long time = System.nanoTime() - start;
    if (U.getLong(entry) != node && !astray(entry, caller, node)) return;
    U.putLong(node + (BASE + NODE_TIME), U.getLong(node + (BASE + NODE_TIME)) + time);
    U.putLong(entry, caller);
  }

  public static void exitCpu(long entry, long caller, long node, long start) {
    if (entry == 0L) return;
    final long time = cpuTime() - start;
    if (U.getLong(entry) != node && !astray(entry, caller, node)) return;
    if (time > 0) U.putLong(node + (BASE + NODE_TIME), U.getLong(node + (BASE + NODE_TIME)) + time);
    U.putLong(entry, caller);
  }

  /** An exception leaves the method; its end follows. */
  @DontInline
  public static void thrown(long entry, long node) {
    if (entry == 0L || bare || (U.getLong(entry) != node && !astray(entry, node, node))) return;
    U.putLong(node + (BASE + NODE_THROWN), U.getLong(node + (BASE + NODE_THROWN)) + 1);
  }

  /** An exception was caught in the method: whatever it called has ended. */
  @DontInline
  public static void resume(long entry, long node) {
    if (entry != 0L && U.getLong(entry) != node) astray(entry, node, node);
  }

  /** Bytecodes that the method itself executed. */
  @ForceInline
  public static void add(long entry, long node, long bytecodes) {
    if (entry == 0L || U.getLong(entry) != node) return;
    U.putLong(node + (BASE + NODE_BYTECODES), U.getLong(node + (BASE + NODE_BYTECODES)) + bytecodes);
  }

  // --- roots ------------------------------------------------------------------------------------------------------

  /** The thread's entry, whether or not it is inside; 0 if nothing is recorded. */
  public static long rootEntry() {
    final long thread = U.getLong(Thread.currentThread(), threadNumber);
    final long entry = threads + ((thread & threadMask) << ENTRY_BITS);
    if (U.getLong(entry + ENTRY_THREAD) == thread && U.getLong(entry + ENTRY_TREE) != 0L) {
      return open || U.getLong(entry) != 0L ? entry : 0L;
    }
    return open && lease(Thread.currentThread(), thread) ? entry : 0L;
  }

  public static long enterRoot(long entry, long caller, int method, int slots) {
    if (entry == 0L || caller != 0L) return enter(entry, caller, method, slots);
    final Unsafe u = U;
    final long tree = u.getLong(entry + ENTRY_TREE);
    long node = u.getLong(tree + (BASE + TREE_ROOT));
    while (node != 0L && u.getInt(node + BASE) != method) node = u.getLong(node + (BASE + NODE_SIBLING));
    if (node == 0L) node = SondeSubgraphTree.newRoot(tree, method, slots);
    if (node == 0L) return 0L;
    u.putLong(node + (BASE + NODE_CALLS), u.getLong(node + (BASE + NODE_CALLS)) + 1);
    u.putLong(entry + ENTRY_OWN, u.getLong(tree + (BASE + TREE_OWN)));
    u.putLong(entry, node);
    return node;
  }

  public static void exitRoot(long entry, long caller, long node, long start) {
    if (node != 0L) ended(entry, caller, node, start, System.nanoTime() - start);
  }

  public static void exitRootCpu(long entry, long caller, long node, long start) {
    if (node != 0L) ended(entry, caller, node, start, cpuTime() - start);
  }

  public static void exitRoot(long entry, long caller, long node) {
    if (node != 0L) exit(entry, caller, node);
  }

  private static void ended(long entry, long caller, long node, long start, long time) {
    final Unsafe u = U;
    if (u.getLong(entry) != node && !astray(entry, caller, node)) return;
    if (time < 0) time = 0;
    if (bare) {
      u.putLong(node + (BASE + NODE_CALLS), u.getLong(node + (BASE + NODE_CALLS)) - 1);
      if (caller == 0L) SondeRootTimes.noteBare(node, time);
      u.putLong(entry, caller);
      return;
    }
    u.putLong(node + (BASE + NODE_TIME), u.getLong(node + (BASE + NODE_TIME)) + time);
    if (caller == 0L) {
      final long own = u.getLong(u.getLong(entry + ENTRY_TREE) + (BASE + TREE_OWN)) - u.getLong(entry + ENTRY_OWN);
      SondeRootTimes.note(node, start, time > own ? time - own : 0L);
    }
    u.putLong(entry, caller);
  }

  // --- call sites -------------------------------------------------------------------------------------------------

  /** Before a call whose callee depends on nothing. */
  @ForceInline
  public static void call(long node, int site) {
    if (node != 0L && U.getByte(sites + site) != 0) reveal(node, site, null);
  }

  /** Before a virtual call. */
  @ForceInline
  public static void call(Object receiver, long node, int site) {
    if (node == 0L || receiver == null) return;
    final Object[] known = last;
    if (site < known.length ? known[site] != receiver.getClass() : known.length != 0) dispatch(receiver.getClass(), node, site);
  }

  @DontInline
  private static void dispatch(Class<?> type, long node, int site) {
    final Seen[] table = seen;
    if (table.length == 0) return;
    int at = (site * 0x9E3779B1 ^ System.identityHashCode(type) * 0x85EBCA6B) >>> 12 & table.length - 1;
    for (int i = 0; i < 8; i++, at = at + 1 & table.length - 1) {
      final Seen s = table[at];
      if (s == null) break;
      if (s.receiver == type && s.site == site) {
        if (site < last.length) last[site] = type;
        return;
      }
    }
    reveal(node, site, type);
    table[at] = new Seen(type, site);
    if (site < last.length) last[site] = type;
  }

  /** The agent instruments the callee; we wait a little for it. */
  @DontInline
  private static void reveal(long node, int site, Class<?> receiver) {
    final long begin = System.nanoTime();
    request(site, receiver);
    own(node, System.nanoTime() - begin);
  }

  /** Time that is ours, not the program's: it is taken off in the end. */
  private static void own(long node, long time) {
    final Unsafe u = U;
    final long entry = inside();
    long n = caller(entry);
    while (n != 0L && n != node) n = u.getLong(n + (BASE + NODE_PARENT));
    if (n == 0L) return; // a frame that is older than the recording
    u.putLong(node + (BASE + NODE_OWN), u.getLong(node + (BASE + NODE_OWN)) + time);
    final long tree = u.getLong(entry + ENTRY_TREE) + (BASE + TREE_OWN);
    u.putLong(tree, u.getLong(tree) + time);
  }

  /** Before a call through a java.lang.reflect.Method, a Constructor or a MethodHandle. */
  public static void reflected(Object handle, long node, int site) {
    if (node == 0L || handle == null) return;
    final Object[] known = last;
    if (site < known.length ? known[site] == handle : known.length == 0) return;
    final long begin = System.nanoTime();
    requestReflected(handle);
    if (site < known.length) known[site] = handle;
    own(node, System.nanoTime() - begin);
  }

  // --- slow paths -------------------------------------------------------------------------------------------------

  /**
   * The thread is not where this frame thinks. Either callees of the frame were left without their knowing: a
   * constructor cannot catch what super() throws. Then they have ended by an exception, and the thread is put to
   * {@code to}. Or the frame is older than the recording: then false, and nothing changes.
   */
  @DontInline
  private static boolean astray(long entry, long to, long node) {
    final Unsafe u = U;
    long n = u.getLong(entry);
    while (n != 0L && n != node) n = u.getLong(n + (BASE + NODE_PARENT));
    if (n == 0L) return false;
    for (n = u.getLong(entry); n != node; n = u.getLong(n + (BASE + NODE_PARENT))) {
      u.putLong(n + (BASE + NODE_THROWN), u.getLong(n + (BASE + NODE_THROWN)) + 1);
    }
    u.putLong(entry, to);
    return true;
  }

  @DontInline
  private static long callee(long entry, long caller, int method, int slots) {
    final Unsafe u = U;
    final long begin = System.nanoTime();
    long node = u.getLong(caller + (BASE + NODE_CHILD));
    while (node != 0L && u.getInt(node + BASE) != method) node = u.getLong(node + (BASE + NODE_SIBLING));
    if (node == 0L) {
      node = SondeSubgraphTree.newNode(u.getLong(entry + ENTRY_TREE), caller, method, slots);
      if (node == 0L) return lost(entry);
      own(caller, System.nanoTime() - begin);
    }
    final long at = u.getLong(caller + (BASE + NODE_SLOTS)) + ((method << 3) & u.getInt(caller + (BASE + NODE_MASK)));
    u.putLong(at + BASE, node);
    return node;
  }

  /** No room for another context: the method runs as if it were a part of its caller. */
  private static long lost(long entry) {
    final long tree = U.getLong(entry + ENTRY_TREE) + (BASE + TREE_LOST);
    U.putLong(tree, U.getLong(tree) + 1);
    return 0L;
  }

  // --- calibration ------------------------------------------------------------------------------------------------

  /** As a method is instrumented, with nothing inside: {@code calls} of it from the thread's current node. */
  static void calibrate(int method, int calls, boolean cpu) {
    if (cpu) {
      for (int i = 0; i < calls; i++) nothingCpu(method);
    } else {
      for (int i = 0; i < calls; i++) nothing(method);
    }
  }

  private static void nothing(int method) {
    final long entry = inside();
    final long caller = caller(entry);
    final long node = enter(entry, caller, method, 1);
    final long start = start(node);
    exit(entry, caller, node, start);
  }

  private static void nothingCpu(int method) {
    final long entry = inside();
    final long caller = caller(entry);
    final long node = enter(entry, caller, method, 1);
    final long start = startCpu(node);
    exitCpu(entry, caller, node, start);
  }

  // --- the agent --------------------------------------------------------------------------------------------------

  private static native boolean lease(Thread thread, long number);

  static native boolean grow(long tree, int size);

  private static native void request(int site, Class<?> receiver);

  private static native void requestReflected(Object handle);

  private static native long cpuTime();
}
