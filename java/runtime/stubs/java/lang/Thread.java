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

  public static native Thread currentThread();
}
