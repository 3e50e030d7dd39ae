// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Consumer;

/** Own iterators in for-each loops, generic containers, exceptions at the end, forEach with callbacks. */
public class Iterators {
  static class Range implements Iterable<Integer> {
    final int low;
    final int high;

    Range(int low, int high) {
      this.low = low;
      this.high = high;
    }

    @Override public Iterator<Integer> iterator() {
      return new Iterator<>() {
        int next = low;

        @Override public boolean hasNext() { return next < high; }

        @Override public Integer next() {
          if (!hasNext()) throw new NoSuchElementException();
          return next++;
        }
      };
    }
  }

  static class Tree<T extends Comparable<T>> {
    T value;
    Tree<T> left;
    Tree<T> right;

    void add(T other) {
      if (value == null) {
        value = other;
      } else if (other.compareTo(value) < 0) {
        if (left == null) left = new Tree<>();
        left.add(other);
      } else {
        if (right == null) right = new Tree<>();
        right.add(other);
      }
    }

    void visit(Consumer<? super T> visitor) {
      if (left != null) left.visit(visitor);
      visitor.accept(value);
      if (right != null) right.visit(visitor);
    }
  }

  public static void main(String[] args) {
    int sum = 0;
    for (int n : new Range(2, 9)) sum = sum * 3 + n;
    Iterator<Integer> it = new Range(0, 2).iterator();
    try {
      while (true) sum += it.next();
    } catch (NoSuchElementException e) {
      sum += 1000;
    }
    try {
      it.remove();
    } catch (UnsupportedOperationException e) {
      sum += 10;
    }
    Deque<Integer> deque = new ArrayDeque<>();
    new Range(0, 5).forEach(deque::push);
    Tree<Integer> tree = new Tree<>();
    for (int i = 0; i < 10; i++) tree.add(i * 7 % 10);
    int[] box = {sum};
    tree.visit(n -> box[0] = box[0] * 5 + n);
    System.out.println("Iterators " + box[0] + " " + deque.peek());
  }
}
