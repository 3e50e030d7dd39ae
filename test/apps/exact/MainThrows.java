// SPDX-License-Identifier: Apache-2.0
package app;

/** main ends with an exception that nobody catches: exit code 1, a stack trace on stderr. */
public class MainThrows {
  static int fall(int n) {
    if (n == 0) throw new IllegalStateException("nobody catches this");
    return fall(n - 1) + 1;
  }

  public static void main(String[] args) {
    System.out.println("MainThrows " + Integer.toHexString(77));
    fall(5);
  }
}
