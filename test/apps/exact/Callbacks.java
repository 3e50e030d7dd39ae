// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** equals, hashCode, toString and functions called by collections; some throw out of the collection. */
public class Callbacks {
  static int hashes;
  static int equalities;

  static class Key implements Comparable<Key> {
    final int n;

    Key(int n) { this.n = n; }

    @Override public int hashCode() {
      hashes++;
      if (n < 0) throw new IllegalStateException("negative key");
      return n % 3; // collisions
    }

    @Override public boolean equals(Object o) {
      equalities++;
      return o instanceof Key && ((Key) o).n == n;
    }

    @Override public int compareTo(Key o) { return n - o.n; }

    @Override public String toString() { return "K" + n; }
  }

  public static void main(String[] args) {
    Map<Key, Integer> map = new HashMap<>();
    for (int i = 0; i < 40; i++) map.merge(new Key(i % 13), i, Integer::sum);
    for (int i = 0; i < 20; i++) map.computeIfAbsent(new Key(i), k -> k.n * 2);
    int sum = map.toString().length();
    try {
      map.get(new Key(-1));
    } catch (IllegalStateException e) {
      sum += 1000;
    }
    map.replaceAll((k, v) -> v + k.n);
    HashSet<Key> set = new HashSet<>(map.keySet());
    set.removeIf(k -> k.n % 2 == 0);
    sum += set.size() + (set.contains(new Key(3)) ? 1 : 0);
    List<Key> list = new ArrayList<>(new LinkedHashMap<>(map).keySet());
    list.sort(null);
    sum += list.indexOf(new Key(5)) + Objects.hash(new Key(1), new Key(2)) + list.toString().length();
    ConcurrentHashMap<Key, Integer> concurrent = new ConcurrentHashMap<>(map);
    sum += concurrent.compute(new Key(4), (k, v) -> v == null ? 1 : v + 1);
    sum += Optional.of(new Key(8)).map(k -> k.n).filter(n -> n > 3).orElseGet(() -> -1);
    System.out.println("Callbacks " + sum + " " + hashes + " " + equalities);
  }
}
