// SPDX-License-Identifier: Apache-2.0
package java.lang;

/** What SondeRT is compiled against: java.lang.Thread with the fields that the agent adds to it. Never loaded. */
public class Thread {
  /** The call site that the next method of this thread is called from. */
  public transient long $sondeSite;

  public transient long $sondeTree;
  public transient long $sondeRoot;
  public transient long $sondeHidden;

  /** Only with --scheme paper: the method that runs. */
  public transient SondeNode $sondeNode;

  // Deterministic sampling (SondeSampling).
  /** How many bytecodes the thread executes until its next sample. */
  public transient long $sondeLeft;

  /** What $sondeLeft would be if the thread had executed nothing since what it executed was recorded. */
  public transient long $sondeQuota;

  public transient long $sondeRandom;
  public transient long $sondePath;
  public transient long $sondeChildren;

  /** The thread's memory for samples, as SondeSampling lays it out. */
  public transient long $sondeRegion;

  /** What the call sites that the next method of this thread is called from are known by, if it is their hash. */
  public transient long $sondeCallers;

  // Only with a profiling agent of the user.
  /** Sampling: what its own countdown and the agent's have more than $sondeLeft, which is the smaller one. */
  public transient long $sondeOwn;

  public transient long $sondeUser;

  /** Sampling: what the agent's countdown would be if the thread had executed nothing since. Exact: 1 if registered. */
  public transient long $sondeAsked;

  public static native Thread currentThread();

  public void setContextClassLoader(ClassLoader loader) {}
}
