// SPDX-License-Identifier: Apache-2.0

/** A control of the harness: break_class.py makes the local of a stack map frame a float. The code itself stays right. */
final class BadFrame {
  private BadFrame() {}

  static int value(boolean small) {
    int value = 0x1234;
    if (small) {
      value = 1;
    }
    return value;
  }
}
