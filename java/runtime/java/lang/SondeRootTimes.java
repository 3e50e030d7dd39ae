// SPDX-License-Identifier: Apache-2.0
package java.lang;

import static java.lang.SondeSubgraph.BASE;
import static java.lang.SondeSubgraph.U;

import jdk.internal.misc.Unsafe;

/** How long the calls of a root took: RootTimes of src/arena/layout.h, which lies before the root's node. */
final class SondeRootTimes {
  private SondeRootTimes() {}

  static final int SIZE = 80 + 320 * 8 + 64 * 16;
  static final int TIME = 0;
  static final int LEAST = 8;
  static final int MOST = 16;
  static final int COUNT = 24;
  static final int ALL_BARE = 32;
  static final int BARE = 40;
  static final int BARE_TIME = 48;
  static final int BARE_SQUARES = 56;
  static final int ROUND = 64;
  static final int BUCKETS = 80;
  static final int LAST = 80 + 320 * 8;
  static final int LAST_CALLS = 64;

  /** A call that ended before anything below it was instrumented. It is a part of nothing else. */
  static void noteBare(long node, long time) {
    final Unsafe u = U;
    final long times = node - SIZE + BASE;
    u.putLong(times + ALL_BARE, u.getLong(times + ALL_BARE) + 1);
    final long current = u.getLong(SondeSubgraph.round);
    if (u.getLong(times + ROUND) != current) {
      u.putLong(times + ROUND, current);
      u.putLong(times + BARE, 0L);
      u.putLong(times + BARE_TIME, 0L);
      u.putDouble(times + BARE_SQUARES, 0);
    }
    u.putLong(times + BARE, u.getLong(times + BARE) + 1);
    u.putLong(times + BARE_TIME, u.getLong(times + BARE_TIME) + time);
    u.putDouble(times + BARE_SQUARES, u.getDouble(times + BARE_SQUARES) + (double) time * time);
  }

  /** A call of a root: for its distribution and for the ring of the last ones. */
  static void note(long node, long start, long time) {
    final Unsafe u = U;
    final long times = node - SIZE + BASE;
    final long count = u.getLong(times + COUNT);
    final long at = times + BUCKETS + 8L * bucket(time);
    u.putLong(at, u.getLong(at) + 1);
    final long call = times + LAST + ((count & (LAST_CALLS - 1)) << 4);
    u.putLong(call, start);
    u.putLong(call + 8, time);
    u.putLong(times + TIME, u.getLong(times + TIME) + time);
    if (count == 0 || time < u.getLong(times + LEAST)) u.putLong(times + LEAST, time);
    if (time > u.getLong(times + MOST)) u.putLong(times + MOST, time);
    u.putLongRelease(null, times + COUNT, count + 1);
  }

  /** Eight buckets for each power of two; as bucket_of in src/arena/layout.h. */
  private static int bucket(long time) {
    if (time < 16) return (int) time;
    final int power = 63 - Long.numberOfLeadingZeros(time);
    return power > 41 ? 319 : 16 + (power - 4) * 8 + (int) (time >>> (power - 3) & 7);
  }
}
