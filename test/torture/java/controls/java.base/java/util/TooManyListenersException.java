// SPDX-License-Identifier: Apache-2.0
package java.util;

/**
 * A control of the harness: takes the place of a class that nothing in java.base needs, with the ireturn broken like
 * that of BadReturn. The JVM does not verify its own classes unless told to; this one shows that it was told.
 */
public class TooManyListenersException extends Exception {
  private static final long serialVersionUID = 1;

  static int value() {
    return 0x1234;
  }
}
