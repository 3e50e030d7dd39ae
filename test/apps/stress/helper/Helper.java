// SPDX-License-Identifier: Apache-2.0
package app.helper;

/** A class of another package, to include or exclude. */
public final class Helper {
  private Helper() {}

  public static int f(int x) {
    return x + 1; // 4 bytecodes
  }
}
