// SPDX-License-Identifier: Apache-2.0
package app;

/** NullPointerException from every kind of instruction, caught in the same method and in the caller. */
public class ThrowNull {
  interface Shape {
    int area();
  }

  static class Box implements Shape {
    int value;
    long wide;
    Box next;

    public int area() {
      return value;
    }

    private int secret() {
      return value + 1;
    }
  }

  static int caught;

  static int run(int kind, Box box, Shape shape, int[] ints, Object lock, RuntimeException exception, Integer boxed) {
    int before = kind * 3;
    switch (kind) {
      case 0: return before + box.value;
      case 1: box.value = before + 1; return before;
      case 2: return (int) box.wide + before;
      case 3: box.wide = before; return before;
      case 4: return before + box.area();
      case 5: return before + shape.area();
      case 6: return before + box.secret();
      case 7: return before + ints.length;
      case 8: return before + ints[0];
      case 9: ints[0] = before; return before;
      case 10: throw exception;
      case 11: synchronized (lock) { before++; } return before;
      case 12: return before + boxed;
      case 13: return before + box.next.value;
      case 14: return before + lock.hashCode();
      default: return -1;
    }
  }

  static int local(int kind) {
    try {
      return run(kind, null, null, null, null, null, null);
    } catch (NullPointerException e) {
      caught++;
      return kind;
    }
  }

  static int sameMethod(int[] array, Box box, boolean first) {
    int sum = 0;
    try {
      sum += 5;
      if (first) sum += array[0];
      sum += box.value;
    } catch (NullPointerException e) {
      sum *= 3;
    }
    return sum;
  }

  public static void main(String[] args) {
    int sum = 0;
    for (int round = 0; round < 3; round++) {
      for (int kind = 0; kind < 15; kind++) sum = sum * 31 + local(kind);
    }
    Box box = new Box();
    for (int kind = 0; kind < 10; kind++) {
      if (kind != 7) sum += run(kind, box, box, new int[1], box, null, 4);
    }
    sum += sameMethod(null, null, true) + sameMethod(null, null, false) + sameMethod(null, box, false);
    System.out.println("ThrowNull " + sum + " " + caught);
  }
}
