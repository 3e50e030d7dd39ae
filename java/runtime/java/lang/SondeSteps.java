// SPDX-License-Identifier: Apache-2.0
package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Where a sample belongs in the call tree of its thread: from the slots of the methods on the stack to the place that
 * their call sites lead to, step by step. The rules of {@link SondeRT} hold here, too.
 */
final class SondeSteps {
  private SondeSteps() {}

  // A region per thread (src/agent/session/shadow_stacks.h): slots; then what the last sample found, a frame for each
  // slot; then two caches. A slot that a sample has seen is marked until its method calls again.
  static final long REGION_MASK = 0x1fffffL;
  static final long SLOTS_MASK = 0xffffL;
  static final int SLOT_SIZE = 4;
  static final int MARK = 1 << 31;
  static final long FRAMES = 0x10000L;
  static final int FRAME_SHIFT = 4;
  static final int FRAME_HASH = 0;
  static final int FRAME_PLACE = 8; // 0: nobody has asked for it
  // How many threads had the region: what one of them cached is nothing to the next.
  static final long USER = 0x50000L;
  // How many bits of the upper half of a hash do not tell where a counter is: threads in large numbers have fewer.
  static final long UNUSED_BITS = 0x50004L;
  // How many slots findCallers has written.
  static final long DEPTH = 0x50008L;
  // Many more counters, for those that have no room among the others; 0 for most threads.
  static final long FAR_COUNTERS = 0x50018L;
  static final int FAR_UNUSED_BITS = 15;
  // For samples by traps (src/agent/session/shadow_stacks.h, TrapState).
  static final long TRAP_LEFT = 0x50020L;
  static final long TRAP_FIRST = 0x50028L;
  static final long TRAP_QUOTA = 0x50030L;
  static final long TRAP_RANDOM = 0x50038L;
  static final long TRAP_TREE = 0x50040L;
  static final long TRAP_AT = 0x50050L;
  static final long TRAP_HASH = 0x50058L;
  static final long TRAP_TABLE = 0x50060L;
  static final long TRAP_TABLE_MASK = 0x50068L;
  static final long TRAP_DRAWN = 0x50070L;
  // A context that the probes find by themselves (KnownContext there).
  static final int KNOWN_HASH = 0;
  static final int KNOWN_SAMPLES = 8;
  // Steps in the tree.
  static final long STEPS = 0xc0000L;
  static final int STEP_SHIFT = 5;
  static final int STEP_FROM = 0;
  static final int STEP_TAG = 8; // user and number of the call site
  static final int STEP_TO = 16;
  // Where the samples of a context are counted: as many sets as there are steps.
  static final long COUNTERS = 0x100000L;
  static final int SET_SHIFT = 6;
  static final int WAYS = 4;
  static final int COUNTER_SIZE = 16;
  static final int COUNTER_HASH = 0;
  static final int COUNTER_AT = 8;

  // A row per call site (src/agent/session/site_table.h).
  static final int ROW_SHIFT = 4;
  static final int ROW_METHOD = 0;
  static final int ROW_SITES = 4;
  static final int ROW_INDEX = 8;
  static final int ROW_NATIVE = 12;

  /** Counts samples of the method of site {@code first}, called from below {@code slot}. */
  static void record(Thread thread, long slot, int first, long samples, long spent) {
    // What the thread executed up to here, samples or not.
    add(thread.$sondeRoot - SondeTree.NODE_SITES + SondeTree.NODE_BYTECODES, spent);
    if (slot >= SondeRT.SINK && slot < SondeRT.NOWHERE_END) slot = thread.$sondeHidden;
    final long region = region(thread, slot);
    if (region == 0) {
      add(samplesAt(find(thread.$sondeRoot, row(first)), row(first)), samples);
      return;
    }
    final long user = (long) SondeRT.Memory.U.getInt(region + USER) << 32;
    long callers = 0L;
    if (SondeSampling.hashes) {
      callers = thread.$sondeCallers + user;
    } else if (SondeSampling.asksJvm) {
      callers = SondeSampling.findCallers(region);
    }
    final long hash = pathHash(callers != 0 ? callers : walk(region, depth(region, slot), user), first);
    final long set = set(region + COUNTERS, hash, SondeRT.Memory.U.getInt(region + UNUSED_BITS));
    final long counter = set + way(hash);
    final boolean isThere = SondeRT.Memory.U.getLong(counter + COUNTER_HASH) == hash;
    add(isThere ? SondeRT.Memory.U.getLong(counter + COUNTER_AT) : search(thread, slot, first, hash, set), samples);
  }

  // Four counters are a set, which is a line of the processor's caches.
  private static long set(long counters, long hash, int unusedBits) {
    return counters + ((long) ((int) (hash >>> 32) >>> unusedBits) << SET_SHIFT);
  }

  /** Where in its set a counter is looked for first. */
  private static long way(long hash) {
    return (hash >>> 40 & WAYS - 1) * COUNTER_SIZE;
  }

  /** Where the samples of a context are counted, if it is not where it was looked for first. */
  @DontInline
  private static long search(Thread thread, long slot, int first, long hash, long set) {
    final Unsafe u = SondeRT.Memory.U;
    final long near = among(set, hash);
    if (near != 0) return u.getLong(near + COUNTER_AT);
    final long region = region(thread, slot);
    final long farCounters = u.getLong(region + FAR_COUNTERS);
    final long farSet = set(farCounters, hash, FAR_UNUSED_BITS);
    final long far = farCounters == 0 ? 0L : among(farSet, hash);
    final long at = far != 0 ? u.getLong(far + COUNTER_AT) : learn(thread, region, slot, first);
    put(thread, set, hash, at);
    if (far == 0 && farCounters != 0) put(thread, farSet, hash, at);
    return at;
  }

  private static long among(long set, long hash) {
    for (long counter = set; counter < set + WAYS * COUNTER_SIZE; counter += COUNTER_SIZE) {
      if (SondeRT.Memory.U.getLong(counter + COUNTER_HASH) == hash) return counter;
    }
    return 0L;
  }

  /** In place of any other if there is no room. */
  private static void put(Thread thread, long set, long hash, long at) {
    final Unsafe u = SondeRT.Memory.U;
    long counter = set + way(hash);
    if (u.getLong(counter + COUNTER_HASH) != 0) counter = among(set, 0L);
    if (counter == 0) counter = set + way(thread.$sondeRandom);
    u.putLong(counter + COUNTER_HASH, 0L);
    u.putLong(counter + COUNTER_AT, at);
    u.putLong(counter + COUNTER_HASH, hash);
  }

  /** Where samples of a method are counted; its place in the tree is a call site, or the record of a leaf. */
  private static long samplesAt(long place, long row) {
    final boolean isLeaf = SondeRT.Memory.U.getInt(row + ROW_SITES) == 0;
    return isLeaf ? place + SondeTree.SITE_BYTECODES : place - SondeTree.NODE_SITES + SondeTree.NODE_BYTECODES;
  }

  /** The region of a slot; 0 for a method that began before the gate opened, of which no slot tells. */
  static long region(Thread thread, long slot) {
    if (!SondeSampling.asksJvm) return slot < SondeRT.NOWHERE_END ? 0L : (slot & ~REGION_MASK) + SondeRT.BASE;
    // A method that ended may have been called in another recording: what it left is not where the thread is.
    if (thread.$sondeSite < SondeRT.SINK) thread.$sondeSite = thread.$sondeRegion;
    return thread.$sondeRegion == 0 ? 0L : thread.$sondeRegion + SondeRT.BASE;
  }

  private static void add(long address, long value) {
    final Unsafe u = SondeRT.Memory.U;
    u.putLong(address + SondeRT.BASE, u.getLong(address + SondeRT.BASE) + value);
  }

  private static long row(int site) {
    return SondeSampling.siteTable + SondeRT.BASE + ((long) site << ROW_SHIFT);
  }

  /**
   * Brings the hashes of the last sample's frames up to date with the slots and returns the topmost one. While a method
   * waits for what it called, so do its callers: what is below a marked slot is as in the last sample. The stack of the
   * thread may be full at any call, those of Unsafe among them if this is interpreted; so here and below what says that
   * something is there is written last.
   */
  private static long walk(long region, int depth, long user) {
    final Unsafe u = SondeRT.Memory.U;
    int i = depth;
    while (i > 0 && u.getInt(region + SLOT_SIZE * (i - 1)) >= 0) --i;
    long hash = i == 0 ? user : u.getLong(frame(region, i - 1) + FRAME_HASH);
    for (; i < depth; ++i) {
      final int number = u.getInt(region + SLOT_SIZE * i);
      hash = pathHash(hash, number);
      if (u.getLong(frame(region, i) + FRAME_HASH) != hash) {
        u.putLong(frame(region, i) + FRAME_PLACE, 0L);
        u.putLong(frame(region, i) + FRAME_HASH, hash);
      }
      u.putInt(region + SLOT_SIZE * i, number | MARK);
    }
    return hash;
  }

  private static long frame(long region, int i) {
    return region + FRAMES + ((long) i << FRAME_SHIFT);
  }

  @ForceInline
  static long pathHash(long callers, int number) {
    return (callers + number) * 0x9e3779b97f4a7c15L;
  }

  /** How many slots there are, no more than are to be kept. */
  static int depth(long region, long slot) {
    final boolean isWritten = SondeSampling.asksJvm;
    final int depth = isWritten ? SondeRT.Memory.U.getInt(region + DEPTH) : (int) (slot & SLOTS_MASK) / SLOT_SIZE;
    return depth >= SondeSampling.maxPath ? SondeSampling.maxPath - 1 : depth;
  }

  /** Where samples of a context are counted that was not met before, or long ago. */
  private static long learn(Thread thread, long region, long slot, int first) {
    if (SondeSampling.hashes) SondeSampling.findCallers(region);
    final int depth = depth(region, slot);
    if (SondeSampling.asksJvm) walk(region, depth, (long) SondeRT.Memory.U.getInt(region + USER) << 32);
    final long row = row(first);
    return samplesAt(find(place(thread, region, depth), row), row);
  }

  /** The call site in the tree that the slots lead to. */
  private static long place(Thread thread, long region, int depth) {
    final Unsafe u = SondeRT.Memory.U;
    final long user = (long) u.getInt(region + USER) << 32;
    final int shift = u.getInt(region + UNUSED_BITS);
    int i = depth;
    while (i > 0 && u.getLong(frame(region, i - 1) + FRAME_PLACE) == 0) --i;
    long place = i == 0 ? thread.$sondeRoot : u.getLong(frame(region, i - 1) + FRAME_PLACE);
    for (; i < depth; ++i) {
      final long tag = user | u.getInt(region + SLOT_SIZE * i) & ~MARK;
      final long hash = u.getLong(frame(region, i) + FRAME_HASH);
      place = step(region + STEPS + ((long) ((int) (hash >>> 32) >>> shift) << STEP_SHIFT), place, tag);
      u.putLong(frame(region, i) + FRAME_PLACE, place);
    }
    return place;
  }

  /** From a call site in the tree to that of the method called there. */
  private static long step(long step, long from, long tag) {
    final Unsafe u = SondeRT.Memory.U;
    if (u.getLong(step + STEP_FROM) == from && u.getLong(step + STEP_TAG) == tag) return u.getLong(step + STEP_TO);
    final long to = find(from, row((int) tag));
    u.putLong(step + STEP_FROM, 0L);
    u.putLong(step + STEP_TAG, tag);
    u.putLong(step + STEP_TO, to);
    u.putLong(step + STEP_FROM, from);
    return to;
  }

  /** The step in the tree itself, which grows if it is new. */
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
