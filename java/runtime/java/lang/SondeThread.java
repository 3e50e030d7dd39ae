// SPDX-License-Identifier: Apache-2.0
package java.lang;

import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What a thread has in its own fields if the JVM was started by Sonde. A class that is loaded already cannot get fields,
 * so after attach each thread has one of these, found by the thread's number, and the classes of the runtime are defined
 * with this class wherever they name Thread (src/instrument/renamed_class.h).
 *
 * <p>The rules for SondeRT hold here, too; objects are made by the agent.
 */
public final class SondeThread {
  // As in stubs/java/lang/Thread.java.
  public long $sondeSite;
  public long $sondeTree;
  public long $sondeRoot;
  public long $sondeHidden;
  public long $sondeLeft;
  public long $sondeQuota;
  public long $sondeRandom;
  public long $sondePath;
  public long $sondeChildren;
  public long $sondeRegion;
  public long $sondeCallers;
  public long $sondeOwn;
  public long $sondeUser;
  public long $sondeAsked;

  /** The number of the thread. */
  long tid;

  /** Another one at the same place of the table. */
  SondeThread next;

  private SondeThread() {}

  static final int PLACES = 1 << 12;

  /** By number; the agent makes it and fills it. Never null while anything is instrumented. */
  static SondeThread[] table;

  /** Where a Thread has its number. */
  static long tidOffset;

  @ForceInline
  public static SondeThread currentThread() {
    final long tid = SondeRT.Memory.U.getLong(Thread.currentThread(), tidOffset);
    final SondeThread first = table[(int) tid & (PLACES - 1)];
    return first != null && first.tid == tid ? first : find(first, tid);
  }

  @DontInline
  private static SondeThread find(SondeThread first, long tid) {
    for (SondeThread thread = first; thread != null; thread = thread.next) {
      if (thread.tid == tid) return thread;
    }
    return enlist(tid);
  }

  /** The first time that the current thread is seen. Never null. */
  private static native SondeThread enlist(long tid);
}
