// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.HashMap;
import java.util.Map;

/** Records: generated and own accessors, compact constructors that throw, equals, hashCode, toString. */
public class Records {
  record Point(int x, long y) {}

  record Range(int low, int high) implements Comparable<Range> {
    static int made;

    Range {
      made++;
      if (low > high) throw new IllegalArgumentException("empty");
    }

    Range(int only) { this(only, only); }

    public int high() { return high + 0; }

    int size() { return high() - low(); }

    @Override public int compareTo(Range o) { return Integer.compare(size(), o.size()); }
  }

  record Pair<A, B>(A first, B second) {
    <C> Pair<A, C> with(C other) { return new Pair<>(first, other); }
  }

  static class Key {
    final int n;

    Key(int n) { this.n = n; }

    @Override public int hashCode() { return n & 3; }

    @Override public boolean equals(Object o) { return o instanceof Key k && k.n == n; }

    @Override public String toString() { return "k" + n; }
  }

  public static void main(String[] args) {
    int sum = new Point(1, 2).equals(new Point(1, 2)) ? 1 : 2;
    sum += new Point(3, 4).hashCode() + new Point(5, 6).toString().length();
    for (int i = 0; i < 4; i++) {
      try {
        sum += new Range(i, 2).size() + new Range(i).compareTo(new Range(0, i));
      } catch (IllegalArgumentException e) {
        sum += 100;
      }
    }
    Map<Pair<Key, Integer>, Integer> map = new HashMap<>();
    for (int i = 0; i < 12; i++) map.merge(new Pair<>(new Key(i % 5), i % 2), i, (a, b) -> a + b);
    for (int i = 0; i < 5; i++) sum = sum * 3 + map.getOrDefault(new Pair<>(new Key(i), "x").with(1), -1);
    sum += new Pair<>(new Key(1), new Key(2)).toString().length();
    System.out.println("Records " + sum + " " + Range.made);
  }
}
