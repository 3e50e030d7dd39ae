// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.function.IntUnaryOperator;

/** What Versions loads under the same name as {@link Version2}: step has as many bytes, but calls another method. */
public final class Version1 implements IntUnaryOperator {
  private static int twice(int x) {
    return x + x; // 4 bytecodes
  }

  static int step(int x) {
    return twice(x); // 3 bytecodes in 5 bytes
  }

  @Override
  public int applyAsInt(int x) {
    return step(x); // 3 bytecodes
  }
}
