// SPDX-License-Identifier: Apache-2.0
package java.lang;

import java.util.concurrent.ForkJoinWorkerThread;
import jdk.internal.misc.InnocuousThread;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What methods call that are instrumented for deterministic sampling (src/instrument/sampling_pass.h).
 *
 * <p>A thread counts down the bytecodes it may execute until its next sample; the method that brings the countdown to
 * zero is sampled, as often as it did so. Its callers stand on the thread's shadow stack, a slot with the number of a
 * call site for each. Contexts with samples are nodes of a call tree as in exact counting ({@link SondeRT}), whose
 * bytecodes are samples.
 *
 * <p>The same rules as in SondeRT hold: addresses are real ones minus BASE, and nothing here may allocate, block or
 * call what is instrumented.
 */
public final class SondeSampling {
  private SondeSampling() {}

  // A region per thread (src/agent/session/shadow_stacks.h): slots; then what the last sample found, a frame for each
  // slot; then a cache of steps in the tree. A slot that a sample has seen is marked until its method calls again.
  static final long REGION_MASK = 0xfffffL;
  static final long SLOTS_MASK = 0xffffL;
  static final int SLOT_SIZE = 4;
  static final int MARK = 1 << 31;
  static final long FRAMES = 0x10000L;
  static final int FRAME_SHIFT = 4;
  static final int FRAME_PLACE = 0;
  static final int FRAME_HASH = 8;
  // How many threads had the region: what one of them cached is nothing to the next.
  static final long USER = 0x50000L;
  static final long STEPS = 0x80000L;
  static final int STEP_SHIFT = 5;
  static final int STEP_BITS = 14;
  static final int STEP_NUMBER = 8;
  static final int STEP_USER = 12;
  static final int STEP_TO = 16;
  static final int STEP_SAMPLES = 24;

  // A row per call site (src/agent/session/site_table.h).
  static final int ROW_SHIFT = 4;
  static final int ROW_METHOD = 0;
  static final int ROW_SITES = 4;
  static final int ROW_INDEX = 8;
  static final int ROW_NATIVE = 12;

  // Set by the agent before SondeRT.on.
  static long granularity;
  static long jitter;
  // 2^32 modulo jitter and 1 / jitter, to divide by it in less time; 0: it is too large for that.
  static long jitterPower;
  static double jitterInverse;
  static long seed;
  static int maxPath;
  static long siteTable;
  static boolean asksJvm;
  static boolean asksAgent;

  // --- a method that calls others -------------------------------------------------------------------------------

  /** Takes a slot for this method. */
  @ForceInline
  public static long enter(int first) {
    if (!SondeRT.on) return 0L;
    final Thread thread = Thread.currentThread();
    final long slot = thread.$sondeSite;
    take(thread, slot, first);
    return slot;
  }

  /** The same for application code, which counts even if it is called by an intrinsic, as below Method.invoke. */
  @ForceInline
  public static long enterApplication(int first) {
    if (!SondeRT.on) return 0L;
    final Thread thread = Thread.currentThread();
    long slot = thread.$sondeSite;
    if (slot >= SondeRT.SINK && slot < SondeRT.NOWHERE_END) slot = thread.$sondeHidden;
    take(thread, slot, first);
    return slot;
  }

  /** The same where there is no shadow stack: what is called from here counts. To be given to {@link #exitVisible}. */
  @ForceInline
  public static long enterVisible() {
    if (!SondeRT.on) return 0L;
    final Thread thread = Thread.currentThread();
    final long slot = thread.$sondeSite;
    if (slot >= SondeRT.SINK && slot < SondeRT.NOWHERE_END) thread.$sondeSite = thread.$sondeHidden;
    return slot;
  }

  /** The end of such a method that has counted already. */
  @ForceInline
  public static void leaveVisible(long slot) {
    if (SondeRT.on && slot >= SondeRT.SINK && slot < SondeRT.NOWHERE_END) Thread.currentThread().$sondeSite = slot;
  }

  /** The end of such a method, normal or not. */
  @ForceInline
  public static void exitVisible(long slot, long bytecodes, int first) {
    if (!SondeRT.on) return;
    final Thread thread = Thread.currentThread();
    if (slot >= SondeRT.SINK && slot < SondeRT.NOWHERE_END) thread.$sondeSite = slot;
    countDown(thread, slot, bytecodes, first);
  }

  /** What is deeper than there are slots shares the last one. */
  @ForceInline
  private static void take(Thread thread, long slot, int first) {
    SondeRT.Memory.U.putInt(slot + SondeRT.BASE, first);
    final long next = slot + SLOT_SIZE;
    thread.$sondeSite = (next & SLOTS_MASK) != 0 ? next : slot;
  }

  /** Before a call. */
  @ForceInline
  public static void call(long slot, int first, int site) {
    if (SondeRT.on) SondeRT.Memory.U.putInt(slot + SondeRT.BASE, first + site);
  }

  /** Counts what was executed while the method goes on. */
  @ForceInline
  public static void spend(long slot, long bytecodes, int first) {
    if (SondeRT.on) countDown(Thread.currentThread(), slot, bytecodes, first);
  }

  @ForceInline
  public static void spendOfJdk(long slot, long bytecodes, int first) {
    if (SondeRT.on && slot >= SondeRT.NOWHERE_END) countDown(Thread.currentThread(), slot, bytecodes, first);
  }

  /** The end of a method that has counted already. */
  @ForceInline
  public static void leave(long slot) {
    if (SondeRT.on) Thread.currentThread().$sondeSite = slot;
  }

  /** The end of a method, normal or not. */
  @ForceInline
  public static void exit(long slot, long bytecodes, int first) {
    if (!SondeRT.on) return;
    final Thread thread = Thread.currentThread();
    thread.$sondeSite = slot;
    countDown(thread, slot, bytecodes, first);
  }

  /** The same in the JDK, where what intrinsics do is not counted. */
  @ForceInline
  public static void exitOfJdk(long slot, long bytecodes, int first) {
    if (!SondeRT.on) return;
    final Thread thread = Thread.currentThread();
    thread.$sondeSite = slot;
    if (slot >= SondeRT.NOWHERE_END) countDown(thread, slot, bytecodes, first);
  }

  // --- a leaf: it has no slot -------------------------------------------------------------------------------------

  @ForceInline
  public static void leaf(long bytecodes, int first) {
    if (!SondeRT.on) return;
    final Thread thread = Thread.currentThread();
    countDown(thread, thread.$sondeSite, bytecodes, first);
  }

  @ForceInline
  public static void leafOfJdk(long bytecodes, int first) {
    if (!SondeRT.on) return;
    final Thread thread = Thread.currentThread();
    final long slot = thread.$sondeSite;
    if (slot >= SondeRT.NOWHERE_END) countDown(thread, slot, bytecodes, first);
  }

  @ForceInline
  private static void countDown(Thread thread, long slot, long bytecodes, int first) {
    final long left = thread.$sondeLeft - bytecodes;
    thread.$sondeLeft = left;
    if (left <= 0) sample(slot, first);
  }

  // --- threads ----------------------------------------------------------------------------------------------------

  /**
   * At the end of Thread's constructors. A thread is known by its path: it is the n-th child of its parent. Which
   * thread makes the JDK's own pools grow is a matter of chance, so their threads do not count as children.
   */
  @DontInline
  public static void born(Thread child) {
    SondeRT.born(child);
    if (!SondeRT.on || child.$sondePath != 0) return;
    final Thread parent = Thread.currentThread();
    final boolean isOfPool = child instanceof ForkJoinWorkerThread || child instanceof InnocuousThread;
    final long number = isOfPool ? 0 : ++parent.$sondeChildren;
    child.$sondePath = mixed(parent.$sondePath + number * 0x9e3779b97f4a7c15L + 1) | 1;
  }

  /** The first time that a thread counts. */
  private static long begin(Thread thread) {
    thread.$sondeRandom = mixed(seed * 0x9e3779b97f4a7c15L + thread.$sondePath) | 1;
    // Where threads are many and short, each is sampled with the right probability: the first interval is cut anywhere.
    final long first = jitter == 0 ? granularity : 1 + random(thread) % granularity;
    thread.$sondeQuota = first;
    return first;
  }

  private static long interval(Thread thread) {
    return jitter == 0 ? granularity : granularity + moduloJitter(random(thread));
  }

  /** A loop that ran for long takes many of these at once, and a division of 64 bits takes longer than all the rest. */
  private static long moduloJitter(long x) {
    final double inverse = jitterInverse;
    if (inverse == 0) return x % jitter;
    final long low = (x >>> 32) * jitterPower + (x & 0xffffffffL); // the same modulo jitter, and a double can hold it
    final long rest = low - (long) (low * inverse) * jitter;
    return rest < 0 ? rest + jitter : rest < jitter ? rest : rest - jitter;
  }

  /** 63 bits; SplitMix64. */
  private static long random(Thread thread) {
    final long state = thread.$sondeRandom + 0x9e3779b97f4a7c15L;
    thread.$sondeRandom = state;
    return mixed(state) >>> 1;
  }

  private static long mixed(long x) {
    x = (x ^ x >>> 30) * 0xbf58476d1ce4e5b9L;
    x = (x ^ x >>> 27) * 0x94d049bb133111ebL;
    return x ^ x >>> 31;
  }

  // --- samples ----------------------------------------------------------------------------------------------------

  /** The countdown is at zero or below: the method of site {@code first}, called from below {@code slot}, is sampled. */
  @DontInline
  private static void sample(long slot, int first) {
    final Thread thread = Thread.currentThread();
    if (asksAgent) {
      sampleForBoth(thread, slot, first);
      return;
    }
    long left = thread.$sondeLeft;
    if (thread.$sondeRandom == 0) left += begin(thread);
    final long spent = thread.$sondeQuota - left;
    long samples = 0;
    for (; left <= 0; ++samples) left += interval(thread);
    thread.$sondeLeft = left;
    if (samples == 0) return;
    thread.$sondeQuota = left;
    if (thread.$sondeTree == 0 && !adopt(thread)) {
      thread.$sondeLeft = SondeRT.FOREVER;
      return;
    }
    record(thread, slot, first, samples, spent);
  }

  private static boolean adopt(Thread thread) {
    final long tree = SondeTree.newTree(thread);
    if (tree == 0) return false;
    thread.$sondeTree = tree;
    thread.$sondeRoot = SondeRT.Memory.U.getLong(tree + (SondeRT.BASE + SondeTree.TREE_ROOT)) + SondeTree.NODE_SITES;
    return true;
  }

  private static void record(Thread thread, long slot, int first, long samples, long spent) {
    // What the thread executed up to here, samples or not.
    add(thread.$sondeRoot - SondeTree.NODE_SITES + SondeTree.NODE_BYTECODES, spent);
    if (slot >= SondeRT.SINK && slot < SondeRT.NOWHERE_END) slot = thread.$sondeHidden;
    final long region = region(thread, slot);
    if (region == 0) {
      add(samplesAt(find(thread.$sondeRoot, row(first)), row(first)), samples);
      return;
    }
    final int depth = depth(region, slot);
    walk(thread, region, depth);
    final int hash = pathHash(hashBelow(region, depth), first);
    final long step = step(region, hash, placeBelow(thread, region, depth), first);
    add(SondeRT.Memory.U.getLong(step + STEP_SAMPLES), samples);
  }

  /** Where samples of a method are counted; its place in the tree is a call site, or the record of a leaf. */
  private static long samplesAt(long place, long row) {
    final boolean isLeaf = SondeRT.Memory.U.getInt(row + ROW_SITES) == 0;
    return isLeaf ? place + SondeTree.SITE_BYTECODES : place - SondeTree.NODE_SITES + SondeTree.NODE_BYTECODES;
  }

  /** The region of a slot; 0 for a method that began before the gate opened, of which no slot tells. */
  private static long region(Thread thread, long slot) {
    if (!asksJvm) return slot < SondeRT.NOWHERE_END ? 0L : (slot & ~REGION_MASK) + SondeRT.BASE;
    // A method that ended may have been called in another recording: what it left is not where the thread is.
    if (thread.$sondeSite < SondeRT.SINK) thread.$sondeSite = thread.$sondeRegion;
    return thread.$sondeRegion == 0 ? 0L : thread.$sondeRegion + SondeRT.BASE;
  }

  // --- a profiling agent of the user -------------------------------------------------------------------------------

  /**
   * The agent has a countdown of its own. $sondeLeft is the smaller of the two. So our samples are the same as without
   * the agent, whatever it asks for.
   */
  private static void sampleForBoth(Thread thread, long slot, int first) {
    final long left = thread.$sondeLeft;
    final long spent = thread.$sondeQuota - left;
    long own = left + thread.$sondeOwn;
    long user = left + thread.$sondeUser;
    if (thread.$sondeRandom == 0) {
      own += begin(thread);
      user = register(thread);
      thread.$sondeAsked = user + spent;
    } else if (user <= 0) {
      user = ask(thread, slot, first, thread.$sondeAsked - user);
      thread.$sondeAsked = user;
    }
    boolean isRecorded = own <= 0;
    long samples = 0;
    for (; own <= 0; ++samples) own += interval(thread);
    if (isRecorded && thread.$sondeTree == 0 && !adopt(thread)) {
      own = SondeRT.FOREVER;
      isRecorded = false;
    }
    if (isRecorded) record(thread, slot, first, samples, spent);
    final long next = own < user ? own : user;
    thread.$sondeOwn = own - next;
    thread.$sondeUser = user - next;
    thread.$sondeLeft = next;
    thread.$sondeQuota = isRecorded ? next : next + spent;
  }

  private static long ask(Thread thread, long slot, int first, long bytecodes) {
    if (slot >= SondeRT.SINK && slot < SondeRT.NOWHERE_END) slot = thread.$sondeHidden;
    final long region = region(thread, slot);
    if (region == 0) return ask(thread, 0L, 0, first, bytecodes);
    return ask(thread, region, depth(region, slot), first, bytecodes);
  }

  /** Has the agent register the thread. How many bytecodes it may execute until it asks. */
  private static native long register(Thread thread);

  /** Has the agent process a sample: call sites on the stack, and the first site of the sampled method. */
  private static native long ask(Thread thread, long slots, int depth, int first, long bytecodes);

  private static void add(long address, long value) {
    final Unsafe u = SondeRT.Memory.U;
    u.putLong(address + SondeRT.BASE, u.getLong(address + SondeRT.BASE) + value);
  }

  private static long row(int site) {
    return siteTable + SondeRT.BASE + ((long) site << ROW_SHIFT);
  }

  /**
   * Brings the frames of the last sample up to date with the slots. While a method waits for what it called, so do its
   * callers: what is below a marked slot is as in the last sample.
   */
  private static void walk(Thread thread, long region, int depth) {
    final Unsafe u = SondeRT.Memory.U;
    int i = depth;
    while (i > 0 && u.getInt(region + SLOT_SIZE * (i - 1)) >= 0) --i;
    long place = placeBelow(thread, region, i);
    int hash = hashBelow(region, i);
    for (; i < depth; ++i) {
      final int number = u.getInt(region + SLOT_SIZE * i);
      hash = pathHash(hash, number);
      place = u.getLong(step(region, hash, place, number) + STEP_TO);
      u.putInt(region + SLOT_SIZE * i, number | MARK);
      u.putInt(frame(region, i) + FRAME_HASH, hash);
      u.putLong(frame(region, i) + FRAME_PLACE, place);
    }
  }

  private static long frame(long region, int i) {
    return region + FRAMES + ((long) i << FRAME_SHIFT);
  }

  /** The call site in the tree that the first so many slots lead to. */
  private static long placeBelow(Thread thread, long region, int depth) {
    return depth == 0 ? thread.$sondeRoot : SondeRT.Memory.U.getLong(frame(region, depth - 1) + FRAME_PLACE);
  }

  private static int hashBelow(long region, int depth) {
    return depth == 0 ? 0 : SondeRT.Memory.U.getInt(frame(region, depth - 1) + FRAME_HASH);
  }

  private static int pathHash(int callers, int number) {
    return (callers + number) * 0x9e3779b1;
  }

  /** How many slots there are, no more than are to be kept. */
  private static int depth(long region, long slot) {
    final int depth = asksJvm ? fillSlots(region) : (int) (slot & SLOTS_MASK) / SLOT_SIZE;
    return depth >= maxPath ? maxPath - 1 : depth;
  }

  /**
   * The step from a call site in the tree to that of the method called there, or to the record of a leaf. Where it is
   * cached depends on the slots alone: so the processor need not wait for one step to load the next.
   */
  private static long step(long region, int hash, long from, int number) {
    final Unsafe u = SondeRT.Memory.U;
    final long step = region + STEPS + ((long) (hash >>> (32 - STEP_BITS)) << STEP_SHIFT);
    final int user = u.getInt(region + USER);
    if (u.getLong(step) != from || u.getInt(step + STEP_NUMBER) != number || u.getInt(step + STEP_USER) != user) {
      final long to = find(from, row(number));
      u.putLong(step, from);
      u.putInt(step + STEP_NUMBER, number);
      u.putInt(step + STEP_USER, user);
      u.putLong(step + STEP_TO, to);
      u.putLong(step + STEP_SAMPLES, samplesAt(to, row(number)));
    }
    return step;
  }

  /**
   * Writes the call sites of the methods on the stack, up to the one that called the sampled method, as they would be
   * on a shadow stack. Returns how many there are.
   */
  private static native int fillSlots(long slots);

  /** The same in the tree itself, which grows if the step is new. */
  @DontInline
  private static long find(long from, long row) {
    final Unsafe u = SondeRT.Memory.U;
    final int method = u.getInt(row + ROW_METHOD);
    final int sites = u.getInt(row + ROW_SITES);
    final boolean isFirst = u.getInt(from + SondeRT.BASE) == method; // of the callees of that site
    if (sites == 0) return isFirst ? from : SondeTree.leafSite(from, method);
    final long node =
        isFirst ? u.getLong(from + (SondeRT.BASE + SondeTree.SITE_CHILD)) : SondeTree.node(from, method, sites);
    final long site = node + SondeTree.NODE_SITES + SondeTree.SITE_SIZE * u.getInt(row + ROW_INDEX);
    // The reader of the tree puts what a site with a native method calls under that method.
    final int callee = u.getInt(row + ROW_NATIVE);
    if (callee != 0) SondeTree.leafSite(site, callee);
    return site;
  }
}
