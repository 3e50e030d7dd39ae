// SPDX-License-Identifier: Apache-2.0
package app;

/** LateName LIBRARY UNNAMED_MS BUSY_MS: a native thread that gets its name late, and is busy then. */
public final class LateName {
  private LateName() {}

  static native void work(int unnamedMs, int busyMs);

  public static void main(String[] arguments) {
    System.load(arguments[0]);
    work(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
    System.out.println("done");
  }
}
