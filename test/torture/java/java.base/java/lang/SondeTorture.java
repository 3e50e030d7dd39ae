// SPDX-License-Identifier: Apache-2.0
package java.lang;

/** What the `edges` pass calls. It is patched into java.base, the one module that every class can see. */
public final class SondeTorture {
  private SondeTorture() {}

  public static void hit() {}
}
