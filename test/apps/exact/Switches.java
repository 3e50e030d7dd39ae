// SPDX-License-Identifier: Apache-2.0
package app;

/** Switches: table, lookup, strings (equal hashes too) and enums, nested, with fall-through, as expressions. */
public class Switches {
  enum Colour { RED, GREEN, BLUE, NONE }

  static int table(int n) {
    switch (n) {
      case -1: return 10;
      case 0: return 11;
      case 1: n += 5; // falls through
      case 2: n += 6; break;
      case 4: return 14;
      default: n = -n;
    }
    return n;
  }

  static int lookup(int n) {
    switch (n) {
      case -1000000: return 1;
      case 7: return 2;
      case 5000: return 3;
      case Integer.MAX_VALUE: return 4;
      default: return 5;
    }
  }

  static int text(String s) {
    switch (s) {
      case "Aa": return 1;
      case "BB": return 2; // same hash as "Aa"
      case "AaBB": return 3;
      case "other": return 4;
      default: return 0;
    }
  }

  static int colour(Colour c) {
    return switch (c) {
      case RED -> 1;
      case GREEN, BLUE -> {
        int x = table(c.ordinal());
        yield x * 2;
      }
      default -> 9;
    };
  }

  static int inLoop(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
      switch (i % 5) {
        case 0: continue;
        case 1:
          switch (i % 3) {
            case 0: sum += 3; break;
            case 2: sum += 5;
          }
          break;
        case 3: sum += i;
      }
      sum++;
    }
    return sum;
  }

  public static void main(String[] args) {
    int sum = 0;
    for (int n = -3; n < 8; n++) sum = sum * 3 + table(n);
    for (int n : new int[] {-1000000, 7, 5000, Integer.MAX_VALUE, 0, 8}) sum += lookup(n);
    for (String s : new String[] {"Aa", "BB", "AaBB", "BBAa", "other", ""}) sum = sum * 3 + text(s);
    for (Colour c : Colour.values()) sum += colour(c);
    try {
      text(null);
    } catch (NullPointerException e) {
      sum += 100;
    }
    try {
      colour(null);
    } catch (NullPointerException e) {
      sum += 1000;
    }
    System.out.println("Switches " + (sum + inLoop(50)));
  }
}
