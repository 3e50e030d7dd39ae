// SPDX-License-Identifier: Apache-2.0
package java.lang;

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

  // SubgraphEntry, SubgraphTree, SubgraphNode, RootTimes (src/arena/layout.h).
  static final long BASE = SondeRT.BASE;
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
  static final int TIMES_SIZE = 80 + 320 * 8 + 64 * 16;
  static final int TIMES_TIME = 0;
  static final int TIMES_LEAST = 8;
  static final int TIMES_MOST = 16;
  static final int TIMES_COUNT = 24;
  static final int TIMES_ALL_BARE = 32;
  static final int TIMES_BARE = 40;
  static final int TIMES_BARE_TIME = 48;
  static final int TIMES_BARE_SQUARES = 56;
  static final int TIMES_ROUND = 64;
  static final int TIMES_BUCKETS = 80;
  static final int TIMES_RING = 80 + 320 * 8;
  static final int RING = 64;

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
    if (node == 0L) node = newRoot(tree, method, slots);
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
      if (caller == 0L) noteBare(node - TIMES_SIZE, time);
      u.putLong(entry, caller);
      return;
    }
    u.putLong(node + (BASE + NODE_TIME), u.getLong(node + (BASE + NODE_TIME)) + time);
    if (caller == 0L) {
      final long own = u.getLong(u.getLong(entry + ENTRY_TREE) + (BASE + TREE_OWN)) - u.getLong(entry + ENTRY_OWN);
      note(node - TIMES_SIZE, start, time > own ? time - own : 0L);
    }
    u.putLong(entry, caller);
  }

  /** A call that ended before anything below it was instrumented. It is a part of nothing else. */
  private static void noteBare(long times, long time) {
    final Unsafe u = U;
    times += BASE;
    u.putLong(times + TIMES_ALL_BARE, u.getLong(times + TIMES_ALL_BARE) + 1);
    final long current = u.getLong(round);
    if (u.getLong(times + TIMES_ROUND) != current) {
      u.putLong(times + TIMES_ROUND, current);
      u.putLong(times + TIMES_BARE, 0L);
      u.putLong(times + TIMES_BARE_TIME, 0L);
      u.putDouble(times + TIMES_BARE_SQUARES, 0);
    }
    u.putLong(times + TIMES_BARE, u.getLong(times + TIMES_BARE) + 1);
    u.putLong(times + TIMES_BARE_TIME, u.getLong(times + TIMES_BARE_TIME) + time);
    u.putDouble(times + TIMES_BARE_SQUARES, u.getDouble(times + TIMES_BARE_SQUARES) + (double) time * time);
  }

  /** A call of a root: for its distribution and for the ring of the last ones. */
  private static void note(long times, long start, long time) {
    final Unsafe u = U;
    final long count = u.getLong(times + (BASE + TIMES_COUNT));
    final long at = times + (BASE + TIMES_BUCKETS) + 8L * bucket(time);
    u.putLong(at, u.getLong(at) + 1);
    final long call = times + (BASE + TIMES_RING) + ((count & (RING - 1)) << 4);
    u.putLong(call, start);
    u.putLong(call + 8, time);
    u.putLong(times + (BASE + TIMES_TIME), u.getLong(times + (BASE + TIMES_TIME)) + time);
    if (count == 0 || time < u.getLong(times + (BASE + TIMES_LEAST))) u.putLong(times + (BASE + TIMES_LEAST), time);
    if (time > u.getLong(times + (BASE + TIMES_MOST))) u.putLong(times + (BASE + TIMES_MOST), time);
    u.putLongRelease(null, times + (BASE + TIMES_COUNT), count + 1);
  }

  /** Eight buckets for each power of two; as bucket_of in src/arena/layout.h. */
  private static int bucket(long time) {
    if (time < 16) return (int) time;
    final int power = 63 - Long.numberOfLeadingZeros(time);
    return power > 41 ? 319 : 16 + (power - 4) * 8 + (int) (time >>> (power - 3) & 7);
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
      node = newNode(u.getLong(entry + ENTRY_TREE), caller, method, slots);
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

  private static long newNode(long tree, long caller, int method, int slots) {
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

  private static long newRoot(long tree, int method, int slots) {
    final Unsafe u = U;
    final long memory = allocate(tree, TIMES_SIZE + NODE_SIZE + 8 * slots);
    if (memory == 0L) return 0L;
    final long node = memory + TIMES_SIZE;
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
      if (!grow(tree, size)) return 0L;
      next = u.getLong(tree + (BASE + TREE_NEXT));
    }
    u.putLong(tree + (BASE + TREE_NEXT), next + size);
    return next;
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

  private static native boolean grow(long tree, int size);

  private static native void request(int site, Class<?> receiver);

  private static native void requestReflected(Object handle);

  private static native long cpuTime();
}
