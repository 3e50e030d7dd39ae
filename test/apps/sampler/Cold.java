// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.Random;

/**
 * Cold SECONDS: adds up numbers that two loads lead to, which find nothing in the processor's caches. The loads are done
 * by a method that is inlined; who calls it has next to nothing to do.
 */
public final class Cold {
  private static final int COUNT = 1 << 19;

  static final class Box {
    private final int[] data;
    private final int shift;

    Box(int length) {
      data = new int[length];
      shift = length & 1;
    }

    int shift() {
      return shift;
    }

    int length() {
      return data.length >> shift();
    }
  }

  private final Box[] boxes = new Box[COUNT];

  private Cold() {
    final Random random = new Random(1);
    for (int i = 0; i < COUNT; i++) boxes[i] = new Box(1 + random.nextInt(8));
    for (int i = COUNT; i > 1; i--) {
      final int other = random.nextInt(i);
      final Box box = boxes[i - 1];
      boxes[i - 1] = boxes[other];
      boxes[other] = box;
    }
  }

  long sum() {
    long sum = 0;
    for (Box box : boxes) sum += box.length();
    return sum;
  }

  public static void main(String[] args) {
    final Cold cold = new Cold();
    final long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
    long sum = 0;
    while (System.nanoTime() < end) sum += cold.sum();
    System.out.println("done " + sum);
  }
}
