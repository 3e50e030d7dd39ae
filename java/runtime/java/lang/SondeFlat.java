// SPDX-License-Identifier: Apache-2.0
package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Stable;

/**
 * What instrumented methods call in mode exact:flat: counts per method and thread, no contexts.
 *
 * <p>A thread has a block of counters; where a method's counters are is a constant plus the block's address, so a probe
 * is one addition in memory, with no branch and no call (src/arena/layout.h, FlatSlot). The zero a new thread starts
 * with is block 0, whose counts nobody reads.
 *
 * <p>A thread has its block twice: in {@code $sondeRoot}, and in {@code $sondeSite}, which methods of the JDK use and
 * which is the sink's while the thread is inside a method that the JIT compiler may replace.
 *
 * <p>The rules for SondeRT hold here, too.
 */
public final class SondeFlat {
  private SondeFlat() {}

  // Of FlatSlot and the region (src/arena/layout.h).
  static final int SLOT_BITS = 4;
  static final int PAGE_SLOTS = 256;
  static final int PAGE_SLOT_BITS = 8;
  static final long PLANE_SIZE = 64L << 20;
  static final long SINK = 4096L;
  static final int SLOT_BYTECODES = 8;

  /** Open from VMInit on. */
  @Stable static boolean on;

  /** Where the region begins. Set before the gate opens. */
  @Stable static long region;

  /** A call; the bytecodes of a method with a single path follow from it. */
  @ForceInline
  public static void hit(int method) {
    if (on) addCall(slot(Thread.currentThread().$sondeRoot, method));
  }

  /** An invocation that has ended. */
  @ForceInline
  public static void hit(long bytecodes, int method) {
    if (!on) return;
    final long slot = slot(Thread.currentThread().$sondeRoot, method);
    addCall(slot);
    addBytecodes(slot, bytecodes);
  }

  /** Bytecodes of a call that was counted before, or less than none if an exception cut it short. */
  @ForceInline
  public static void add(long bytecodes, int method) {
    if (on) addBytecodes(slot(Thread.currentThread().$sondeRoot, method), bytecodes);
  }

  // --- the same for methods of the JDK ---------------------------------------------------------------------------

  @ForceInline
  public static void hitOfJdk(int method) {
    if (on) addCall(slot(Thread.currentThread().$sondeSite, method));
  }

  @ForceInline
  public static void hitOfJdk(long bytecodes, int method) {
    if (!on) return;
    final long slot = slot(Thread.currentThread().$sondeSite, method);
    addCall(slot);
    addBytecodes(slot, bytecodes);
  }

  @ForceInline
  public static void addOfJdk(long bytecodes, int method) {
    if (on) addBytecodes(slot(Thread.currentThread().$sondeSite, method), bytecodes);
  }

  // --- a method whose inside must not be counted, since the JIT compiler may replace it ---------------------------

  /** To be given back to {@link #exitSink}. */
  @ForceInline
  public static long enterSink() {
    if (!on) return 0L;
    final Thread thread = Thread.currentThread();
    final long block = thread.$sondeSite;
    thread.$sondeSite = SINK;
    return block;
  }

  @ForceInline
  public static void exitSink(long block) {
    if (!on) return;
    final Thread thread = Thread.currentThread();
    thread.$sondeSite = block == SINK ? SINK : thread.$sondeRoot;
  }

  @ForceInline
  private static long slot(long block, int method) {
    final long inPage = (long) (method & (PAGE_SLOTS - 1)) << SLOT_BITS;
    return block + (region + (method >>> PAGE_SLOT_BITS) * PLANE_SIZE + inPage);
  }

  @ForceInline
  private static void addCall(long slot) {
    final Unsafe u = SondeRT.Memory.U;
    u.putLong(slot, u.getLong(slot) + 1);
  }

  @ForceInline
  private static void addBytecodes(long slot, long bytecodes) {
    final Unsafe u = SondeRT.Memory.U;
    u.putLong(slot + SLOT_BYTECODES, u.getLong(slot + SLOT_BYTECODES) + bytecodes);
  }
}
