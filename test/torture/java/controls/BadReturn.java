// SPDX-License-Identifier: Apache-2.0

/** A control of the harness: break_class.py turns the ireturn into an areturn, which only the verifier can notice. */
final class BadReturn {
  private BadReturn() {}

  static int value() {
    return 0x1234;
  }
}
