// SPDX-License-Identifier: Apache-2.0
package app;

/** String concatenation by invokedynamic: all types, constants, toString() of application objects, one that throws. */
public class Concat {
  static class Named {
    final String name;

    Named(String name) { this.name = name; }

    @Override public String toString() {
      if (name.isEmpty()) throw new IllegalStateException("no name");
      return "<" + name + ">";
    }
  }

  static String all(boolean z, byte b, char c, short s, int i, long j, float f, double d, Object o) {
    return "z" + z + b + c + s + "," + i + j + f + d + o + null + '\u0001' + "\u0002";
  }

  public static void main(String[] args) {
    String text = "";
    for (int i = 0; i < 5; i++) text += i + ":" + new Named("n" + i) + ";";
    text += all(true, (byte) 1, 'c', (short) 2, 3, 4L, 1.5f, 2.25, new Named("x"));
    try {
      text += new Named("");
    } catch (IllegalStateException e) {
      text += e.getMessage();
    }
    System.out.println("Concat " + text.hashCode());
  }
}
