// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.TreeMap;

/** Callbacks from JDK code: comparators and compareTo from sort, TreeMap and PriorityQueue; one throws. */
public class Sorting {
  static class Item implements Comparable<Item> {
    static int compared;
    final int key;
    final int order;

    Item(int key, int order) {
      this.key = key;
      this.order = order;
    }

    int key() { return key; }

    @Override public int compareTo(Item o) {
      compared++;
      return Integer.compare(key, o.key);
    }

    @Override public boolean equals(Object o) { return o instanceof Item && ((Item) o).key == key; }

    @Override public int hashCode() { return key; }
  }

  static Item[] items(int n) {
    Item[] all = new Item[n];
    for (int i = 0; i < n; i++) all[i] = new Item(i * 37 % 23, i);
    return all;
  }

  public static void main(String[] args) {
    long sum = 0;
    Item[] all = items(40);
    Arrays.sort(all);
    for (Item item : all) sum = sum * 3 + item.order;
    Arrays.sort(all, Comparator.comparingInt(Item::key).reversed().thenComparing((a, b) -> a.order - b.order));
    for (Item item : all) sum = sum * 5 + item.order;
    Arrays.sort(all, Collections.reverseOrder());
    TreeMap<Item, Integer> map = new TreeMap<>((a, b) -> b.compareTo(a));
    PriorityQueue<Item> queue = new PriorityQueue<>();
    for (Item item : items(20)) {
      map.put(item, item.order);
      queue.add(item);
    }
    while (!queue.isEmpty()) sum += queue.poll().order * 2L + map.size();
    try {
      Arrays.sort(items(10), (a, b) -> {
        if (a.key == 14) throw new IllegalStateException();
        return a.key - b.key;
      });
    } catch (IllegalStateException e) {
      sum++;
    }
    System.out.println("Sorting " + sum + " " + Item.compared);
  }
}
