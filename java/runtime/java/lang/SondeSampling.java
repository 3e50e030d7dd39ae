// SPDX-License-Identifier: Apache-2.0
package java.lang;

import java.util.concurrent.ForkJoinWorkerThread;
import jdk.internal.misc.InnocuousThread;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * What methods call that are instrumented for deterministic sampling (src/instrument/sampling_pass.h).
 *
 * <p>A thread counts down the bytecodes it may execute until its next sample; the method that brings the countdown to
 * zero is sampled, as often as it did so. Its callers stand on the thread's shadow stack, a slot with the number of a
 * call site for each. Contexts with samples are nodes of a call tree as in exact counting ({@link SondeTree}), whose
 * bytecodes are samples ({@link SondeSteps}).
 *
 * <p>The same rules as in SondeRT hold: addresses are real ones minus BASE, and nothing here may allocate, block or
 * call what is instrumented.
 */
public final class SondeSampling {
  private SondeSampling() {}

  // Set by the agent before SondeRT.on.
  static long granularity;
  static long jitter;
  static long mean; // of intervals
  static long seed;
  static int maxPath;
  static long siteTable;
  static boolean asksJvm;
  static boolean hashes;
  static boolean asksAgent;

  /**
   * By {@link #TRAPS}: they are stores that the agent notices (src/agent/jvmti/sample_traps.h). Stable and never 0:
   * compiled code does not test it.
   */
  @Stable static int samplesBy;

  static final int TRAPS = 1;
  static final int CALLS = 2;

  /** {@link #mean}, where samples are by traps. */
  @Stable static long trapMean;

  /** Samples were by traps before. */
  static boolean takesOver;

  /** Of SplitMix64. */
  private static final long STEP = 0x9e3779b97f4a7c15L;

  /** The most that a number of 32 bits can be multiplied with. */
  private static final long MOST_SCALED = 0x7fffffffL;

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
    final long next = slot + SondeSteps.SLOT_SIZE;
    thread.$sondeSite = (next & SondeSteps.SLOTS_MASK) != 0 ? next : slot;
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

  // --- a method that calls others, where call sites are known by their hash ---------------------------------------

  /** The call sites that this method was called from. */
  @ForceInline
  public static long callers() {
    return SondeRT.on ? Thread.currentThread().$sondeCallers : 0L;
  }

  /** Before a call. */
  @ForceInline
  public static void callFrom(long callers, int site) {
    if (SondeRT.on) Thread.currentThread().$sondeCallers = SondeSteps.pathHash(callers, site);
  }

  /** Before the method counts while it goes on, and at its end, normal or not. */
  @ForceInline
  public static void calledFrom(long callers) {
    if (SondeRT.on) Thread.currentThread().$sondeCallers = callers;
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

  // --- without calls: a signal is cheaper where samples, or contexts that are new, are rare --------------------------

  @ForceInline
  public static void leafByTrap(long bytecodes, int first) {
    if (!SondeRT.on) return;
    final Thread thread = Thread.currentThread();
    final long left = thread.$sondeLeft - bytecodes;
    thread.$sondeLeft = left;
    if (left <= 0) {
      if (samplesBy == TRAPS) {
        trap(thread, left, first);
      } else {
        sample(thread.$sondeSite, first);
      }
    }
  }

  /** The same for a leaf where contexts are known by their hash. */
  @ForceInline
  public static void leafByHash(long bytecodes, int first) {
    if (!SondeRT.on) return;
    final Thread thread = Thread.currentThread();
    countDownByHash(thread, bytecodes, first, thread.$sondeCallers, false);
  }

  /** The same for a method that calls others. */
  @ForceInline
  public static void spendByHash(long bytecodes, int first, long callers) {
    if (SondeRT.on) countDownByHash(Thread.currentThread(), bytecodes, first, callers, false);
  }

  /** The same two for methods with loops, which often have more than one sample at a time. */
  @ForceInline
  public static void leafWithLoops(long bytecodes, int first) {
    if (!SondeRT.on) return;
    final Thread thread = Thread.currentThread();
    countDownByHash(thread, bytecodes, first, thread.$sondeCallers, true);
  }

  @ForceInline
  public static void spendWithLoops(long bytecodes, int first, long callers) {
    if (SondeRT.on) countDownByHash(Thread.currentThread(), bytecodes, first, callers, true);
  }

  @ForceInline
  private static void countDownByHash(Thread thread, long bytecodes, int first, long callers, boolean hasLoops) {
    final long left = thread.$sondeLeft - bytecodes;
    thread.$sondeLeft = left;
    if (left > 0) return;
    if (samplesBy == TRAPS) {
      sampleByHash(thread, left, first, callers, hasLoops);
    } else {
      thread.$sondeCallers = callers;
      sample(thread.$sondeSite, first);
    }
  }

  /**
   * Counts samples of a context that was met before (KnownContext in src/agent/session/shadow_stacks.h); all others are
   * for the agent, and those that are more than one where that is rare.
   */
  @ForceInline
  private static void sampleByHash(Thread thread, long left, int first, long callers, boolean hasLoops) {
    final Unsafe u = SondeRT.Memory.U;
    final long region = thread.$sondeRegion + SondeRT.BASE;
    final long hash = SondeSteps.pathHash(callers, first);
    final long known =
        u.getLong(region + SondeSteps.TRAP_TABLE) + (hash >>> 32 & u.getLong(region + SondeSteps.TRAP_TABLE_MASK));
    final long drawn = u.getLong(region + SondeSteps.TRAP_DRAWN);
    final long interval = u.getLong(drawn); // 0: none is drawn any more
    long next = left + interval;
    long samples = 1;
    if (hasLoops && next <= 0 && interval != 0) {
      samples += -next / trapMean + 1;
      next += (samples - 1) * trapMean;
    }
    if (next > 0 && u.getLong(known + SondeSteps.KNOWN_HASH) == hash) {
      u.putLong(known + SondeSteps.KNOWN_SAMPLES, u.getLong(known + SondeSteps.KNOWN_SAMPLES) + samples);
      u.putLong(region + SondeSteps.TRAP_DRAWN, drawn + Long.BYTES);
      if (hasLoops && samples != 1) {
        final long more = (samples - 1) * trapMean;
        u.putLong(region + SondeSteps.TRAP_QUOTA, u.getLong(region + SondeSteps.TRAP_QUOTA) + more);
      }
      thread.$sondeLeft = next;
    } else {
      u.putLong(region + SondeSteps.TRAP_HASH, hash);
      trap(thread, left, first);
    }
  }

  /**
   * The compiler knows of three stores and two loads outside of the heap. The last store may be to the first one's
   * address, for all that it can know, so what is read then is what the agent has left there.
   */
  @ForceInline
  private static void trap(Thread thread, long left, int first) {
    final Unsafe u = SondeRT.Memory.U;
    final long region = thread.$sondeRegion;
    u.putLong(region + (SondeRT.BASE + SondeSteps.TRAP_LEFT), left);
    u.putInt(region + (SondeRT.BASE + SondeSteps.TRAP_FIRST), first);
    u.putInt(u.getLong(region + (SondeRT.BASE + SondeSteps.TRAP_AT)), first);
    thread.$sondeLeft = u.getLong(region + (SondeRT.BASE + SondeSteps.TRAP_LEFT));
  }

  /** What the agent knows of a thread that it sampled until now. */
  private static void takeOver(Thread thread) {
    final Unsafe u = SondeRT.Memory.U;
    final long region = thread.$sondeRegion + SondeRT.BASE;
    if (thread.$sondeRegion == 0 || u.getLong(region + SondeSteps.TRAP_RANDOM) == 0) return;
    endTraps(thread.$sondeRegion);
    final long tree = u.getLong(region + SondeSteps.TRAP_TREE);
    if (tree != 0) thread.$sondeRoot = u.getLong(tree + (SondeRT.BASE + SondeTree.TREE_ROOT)) + SondeTree.NODE_SITES;
    thread.$sondeTree = tree;
    thread.$sondeQuota = u.getLong(region + SondeSteps.TRAP_QUOTA);
    thread.$sondeRandom = u.getLong(region + SondeSteps.TRAP_RANDOM);
    u.putLong(region + SondeSteps.TRAP_RANDOM, 0L);
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
    child.$sondePath = mixed(parent.$sondePath + number * STEP + 1) | 1;
  }

  /** The first time that a thread counts. */
  private static long begin(Thread thread) {
    thread.$sondeRandom = mixed(seed * STEP + thread.$sondePath) | 1;
    // Where threads are many and short, each is sampled with the right probability: the first interval is cut anywhere.
    final long first = jitter == 0 ? granularity : 1 + random(thread) % granularity;
    thread.$sondeQuota = first;
    return first;
  }

  /** Of a loop that ran for long there are many samples at once: one interval is random, the others are the mean. */
  private static long more(long left) {
    return left > 0 ? 0 : -left / mean + 1;
  }

  /** A division would take longer than all the rest: the upper 32 bits of a random number are a fraction of the jitter. */
  private static long interval(Thread thread) {
    if (jitter == 0) return granularity;
    return granularity + (jitter <= MOST_SCALED ? (random(thread) >>> 31) * jitter >>> 32 : random(thread) % jitter);
  }

  /** 63 bits; SplitMix64. */
  private static long random(Thread thread) {
    final long state = thread.$sondeRandom + STEP;
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
    if (takesOver) takeOver(thread);
    long left = thread.$sondeLeft;
    if (thread.$sondeRandom == 0) left += begin(thread);
    final long spent = thread.$sondeQuota - left;
    long samples = 0;
    if (left <= 0) {
      left += interval(thread);
      samples = 1 + more(left);
      left += more(left) * mean;
    }
    thread.$sondeLeft = left;
    if (samples == 0) return;
    thread.$sondeQuota = left;
    if (thread.$sondeTree == 0 && !adopt(thread)) {
      thread.$sondeLeft = SondeRT.FOREVER;
      return;
    }
    SondeSteps.record(thread, slot, first, samples, spent);
  }

  private static boolean adopt(Thread thread) {
    final long tree = SondeTree.newTree(thread);
    if (tree == 0) return false;
    // The stack may be full at any call: whoever has a tree has a root.
    thread.$sondeRoot = SondeRT.Memory.U.getLong(tree + (SondeRT.BASE + SondeTree.TREE_ROOT)) + SondeTree.NODE_SITES;
    thread.$sondeTree = tree;
    return true;
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
    if (isRecorded) {
      own += interval(thread);
      samples = 1 + more(own);
      own += more(own) * mean;
    }
    if (isRecorded && thread.$sondeTree == 0 && !adopt(thread)) {
      own = SondeRT.FOREVER;
      isRecorded = false;
    }
    if (isRecorded) SondeSteps.record(thread, slot, first, samples, spent);
    final long next = own < user ? own : user;
    thread.$sondeOwn = own - next;
    thread.$sondeUser = user - next;
    thread.$sondeLeft = next;
    thread.$sondeQuota = isRecorded ? next : next + spent;
  }

  private static long ask(Thread thread, long slot, int first, long bytecodes) {
    if (slot >= SondeRT.SINK && slot < SondeRT.NOWHERE_END) slot = thread.$sondeHidden;
    final long region = SondeSteps.region(thread, slot);
    if (region == 0) return ask(thread, 0L, 0, first, bytecodes);
    if (asksJvm) findCallers(region);
    return ask(thread, region, SondeSteps.depth(region, slot), first, bytecodes);
  }

  /** What the agent has not written down yet; from now on samples of this thread are calls. */
  private static native void endTraps(long region);

  /** Has the agent register the thread. How many bytecodes it may execute until it asks. */
  private static native long register(Thread thread);

  /** Has the agent process a sample: call sites on the stack, and the first site of the sampled method. */
  private static native long ask(Thread thread, long slots, int depth, int first, long bytecodes);

  /**
   * Writes the call sites of the methods on the stack, up to the one that called the sampled method, into the region's
   * slots, and how many there are. Returns what SondeSteps.walk would return for them; 0 if it has to be called.
   */
  static native long findCallers(long region);
}
