// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.function.IntUnaryOperator;

/** What Unloading loads again and again. */
public final class Unloaded implements IntUnaryOperator {
  private static int twice(int x) {
    return x * 2; // 4 bytecodes
  }

  @Override
  public int applyAsInt(int x) {
    return twice(x) + 1; // 5 bytecodes
  }
}
