// SPDX-License-Identifier: Apache-2.0

/** Is in System.out most of the time, with its lock held. */
public final class Printing {
  public static void main(String[] args) {
    for (int i = 0; i < 3000; i++) System.out.println("line " + i);
  }
}
