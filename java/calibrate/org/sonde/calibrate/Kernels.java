// SPDX-License-Identifier: Apache-2.0
package org.sonde.calibrate;

/**
 * Small loops that `sonde calibrate` measures. Each public method is a kernel: one loop whose body runs the same bytecodes in
 * every iteration, which the host counts in the class file. So a branch in a body leaves the loop or is not there,
 * and what is called has a single path. Values go from one iteration to the next, lest a compiler drops the work.
 *
 * <p>One long file: a list of 58 loops that have nothing to do with each other, found by reflection in one class and counted
 * in one class file.
 */
public final class Kernels {
  private Kernels() {}

  interface Step {
    int step(int x);
  }

  static final class Add implements Step {
    @Override
    public int step(int x) {
      return x + 3;
    }
  }

  static final class Xor implements Step {
    @Override
    public int step(int x) {
      return x ^ 5;
    }
  }

  static final class Sub implements Step {
    @Override
    public int step(int x) {
      return x - 7;
    }
  }

  static class Cell {
    int value;
    long wide;
    Cell next;

    int plus(int x) {
      return value + x;
    }
  }

  private static final int SIZE = 1024;
  private static final int[] INTS = new int[SIZE];
  private static final long[] LONGS = new long[SIZE];
  private static final byte[] BYTES = new byte[SIZE];
  private static final double[] DOUBLES = new double[SIZE];
  private static final Object[] OBJECTS = new Object[SIZE];
  private static final Step[] STEPS = new Step[SIZE];
  private static final Step[] ADDS = new Step[SIZE];
  private static final Object LOCK = new Object();
  private static int number;
  private static long wideNumber;
  private static Object kept;
  private static int never = 123_456_789;
  private static int three = 3;
  private static long seven = 7;
  private static double oneAndABit = 1.0000001;

  static {
    Cell cell = null;
    for (int i = 0; i < SIZE; i++) {
      INTS[i] = i * 37 & SIZE - 1;
      LONGS[i] = i * 17L;
      BYTES[i] = (byte) i;
      DOUBLES[i] = 1.0 + i * 1e-6;
      OBJECTS[i] = "text";
      STEPS[i] = i % 3 == 0 ? new Add() : i % 3 == 1 ? new Xor() : new Sub();
      ADDS[i] = new Add();
      final Cell made = new Cell();
      made.next = cell;
      made.value = i;
      cell = made;
    }
    Cell last = cell;
    while (last.next != null) last = last.next;
    last.next = cell;
    kept = cell;
  }

  static int addThree(int x) {
    return x + 3;
  }

  static int twice(int x) {
    return addThree(addThree(x));
  }

  static long mixed(long x, int y) {
    return x * 31 + y;
  }

  public static long intAdd(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) x = x + i ^ 5;
    return x;
  }

  public static long intMultiply(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) x = x * 31 + i;
    return x;
  }

  public static long intMultiplyLong(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) x = ((x * 31 + i) * 17 ^ i) * 13 + 7;
    return x;
  }

  public static long intShift(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) {
      x ^= x << 13;
      x ^= x >>> 17;
      x ^= x << 5;
    }
    return x;
  }

  public static long intLocals(int n) {
    int a = 1;
    int b = 2;
    int c = 3;
    int d = 4;
    for (int i = 0; i < n; i++) {
      final int t = a;
      a = b + i;
      b = c;
      c = d ^ a;
      d = t;
    }
    return a + b + c + d;
  }

  public static long intCopies(int n) {
    int a = 1;
    int b = 2;
    int c = 3;
    for (int i = 0; i < n; i++) {
      final int t = a;
      a = b;
      b = c;
      c = t + i;
      final int u = a;
      a = c;
      c = b;
      b = u;
    }
    return a + b + c;
  }

  public static long intNegate(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) x = -(x + i) & 0x7fffffff;
    return x;
  }

  public static long longAdd(int n) {
    long x = 1;
    for (int i = 0; i < n; i++) x = (x + 17L) ^ 5L;
    return x;
  }

  public static long longMultiply(int n) {
    long x = 1;
    for (int i = 0; i < n; i++) x = x * 6364136223846793005L + 1442695040888963407L;
    return x;
  }

  public static long longShift(int n) {
    long x = 88172645463325252L;
    for (int i = 0; i < n; i++) {
      x ^= x << 13;
      x ^= x >>> 7;
      x ^= x << 17;
    }
    return x;
  }

  public static long intDivide(int n) {
    int x = 1 << 30;
    final int d = three;
    for (int i = 0; i < n; i++) x = x / d + (1 << 29) + i;
    return x;
  }

  public static long intRemainder(int n) {
    int x = 1 << 30;
    final int d = three + 1000;
    for (int i = 0; i < n; i++) x = (x % d) * 1021 + i;
    return x;
  }

  public static long longDivide(int n) {
    long x = 1L << 60;
    final long d = seven;
    for (int i = 0; i < n; i++) x = x / d + (1L << 59);
    return x;
  }

  public static long doubleAdd(int n) {
    double x = 1;
    for (int i = 0; i < n; i++) x = x + 0.5;
    return (long) x;
  }

  public static long doubleMultiply(int n) {
    double x = 1;
    final double d = oneAndABit;
    for (int i = 0; i < n; i++) x = x * d + 0.25 - d;
    return (long) x;
  }

  public static long floatMix(int n) {
    float x = 1;
    for (int i = 0; i < n; i++) x = x * 0.5f + 1.5f;
    return (long) x;
  }

  public static long doubleDivide(int n) {
    double x = 1e300;
    final double d = oneAndABit;
    for (int i = 0; i < n; i++) x = x / d + 1.0;
    return (long) x;
  }

  public static long doubleDivideTwice(int n) {
    double x = 1e300;
    final double d = oneAndABit;
    for (int i = 0; i < n; i++) x = (x / d + 1.0) / d + 1.0;
    return (long) x;
  }

  public static long convertInts(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) x = (byte) (x + i) + (short) x;
    return x;
  }

  public static long convertLongs(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) x = (int) ((long) x + (long) i) ^ 3;
    return x;
  }

  public static long convertDoubles(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) x = (int) ((double) x + 1.5) & 0xffff;
    return x;
  }

  public static long compareLongs(int n) {
    long x = 1;
    final long limit = wideNumber + (1L << 62);
    for (int i = 0; i < n; i++) {
      x = x * 3 & 0xffff;
      if (x > limit) break;
    }
    return x;
  }

  public static long compareDoubles(int n) {
    double x = 1;
    final double limit = oneAndABit * 1e300;
    for (int i = 0; i < n; i++) {
      x = x + 1.0;
      if (x > limit) break;
      if (x == limit) break;
    }
    return (long) x;
  }

  public static long branches(int n) {
    int x = 1;
    final int a = never;
    final int b = never + 1;
    final int c = never + 2;
    for (int i = 0; i < n; i++) {
      x = x * 5 + i & 0xffff;
      if (x == a) break;
      if (x == b) break;
      if (x == c) break;
    }
    return x;
  }

  public static long branchesOnNull(int n) {
    int x = 1;
    final Object object = kept;
    for (int i = 0; i < n; i++) {
      x = x + i ^ 1;
      if (object == null) break;
      if (x == never) break;
    }
    return x;
  }

  public static long switches(int n) {
    int x = 1;
    loop:
    for (int i = 0; i < n; i++) {
      switch (three) {
        case 0:
          break loop;
        case 1:
          return 1;
        case 2:
          return 2;
        case 3:
          x = x * 3 + i;
          break;
        default:
          return 3;
      }
    }
    return x;
  }

  public static long switchesTwice(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) {
      switch (x & 0) {
        case 1:
          return 1;
        case 0:
          x = x * 3 + i;
          break;
        default:
          return 3;
      }
      switch (three) {
        case 1000:
          return 1;
        case 100000:
          return 2;
        case 3:
          x = x ^ i;
          break;
        default:
          return 4;
      }
    }
    return x;
  }

  public static long arrayLoad(int n) {
    int x = 1;
    final int[] a = INTS;
    for (int i = 0; i < n; i++) x = a[x & 1023] + i;
    return x;
  }

  public static long arrayLoadTwice(int n) {
    int x = 1;
    final int[] a = INTS;
    for (int i = 0; i < n; i++) x = a[a[x & 1023]] + i;
    return x;
  }

  public static long arrayLoadBytes(int n) {
    int x = 1;
    final byte[] a = BYTES;
    for (int i = 0; i < n; i++) x = x * 31 + a[i & 1023];
    return x;
  }

  public static long arrayLoadDoubles(int n) {
    double x = 1;
    final double[] a = DOUBLES;
    for (int i = 0; i < n; i++) x = x + a[i & 1023];
    return (long) x;
  }

  public static long arrayStore(int n) {
    final int[] a = new int[SIZE];
    int x = 1;
    for (int i = 0; i < n; i++) {
      x = x * 5 + 3;
      a[x & 1023] = i;
    }
    return a[n & 1023];
  }

  public static long arrayStoreLongs(int n) {
    final long[] a = LONGS;
    int x = 1;
    for (int i = 0; i < n; i++) {
      x = x * 5 + 3 & 1023;
      a[x] = a[i & 1023] + 1;
    }
    return a[n & 1023];
  }

  public static long arrayStoreObjects(int n) {
    final Object[] a = new Object[SIZE];
    final Object o = kept;
    for (int i = 0; i < n; i++) a[i & 1023] = o;
    return a.length;
  }

  public static long arrayLength(int n) {
    int x = 1;
    final int[] a = INTS;
    for (int i = 0; i < n; i++) x = (x + a.length) * 3 & 0xffff;
    return x;
  }

  public static long fieldLoad(int n) {
    Cell cell = (Cell) kept;
    int x = 1;
    for (int i = 0; i < n; i++) {
      x = x + cell.value;
      cell = cell.next;
    }
    return x;
  }

  public static long fieldStore(int n) {
    final Cell cell = new Cell();
    kept2 = cell;
    for (int i = 0; i < n; i++) cell.value = cell.value * 3 + i;
    return cell.value;
  }

  public static long fieldStoreTwice(int n) {
    final Cell cell = new Cell();
    kept2 = cell;
    for (int i = 0; i < n; i++) {
      cell.value = cell.value * 3 + i;
      cell.wide = cell.wide + 1;
    }
    return cell.value + cell.wide;
  }

  private static Object kept2;

  public static long staticStore(int n) {
    for (int i = 0; i < n; i++) number = number * 3 + i;
    return number;
  }

  public static long staticStoreTwice(int n) {
    for (int i = 0; i < n; i++) {
      number = number + i;
      wideNumber = wideNumber + 1L & 0xffffL;
    }
    return number;
  }

  public static long invokeStatic(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) x = addThree(x) ^ i;
    return x;
  }

  public static long invokeNested(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) x = twice(twice(x)) ^ i;
    return x;
  }

  public static long invokeWithLongs(int n) {
    long x = 1;
    for (int i = 0; i < n; i++) x = mixed(x, i);
    return x;
  }

  public static long invokeVirtual(int n) {
    final Cell cell = (Cell) kept;
    int x = 1;
    for (int i = 0; i < n; i++) x = cell.plus(x) ^ i;
    return x;
  }

  public static long invokeInterface(int n) {
    int x = 1;
    final Step[] steps = ADDS;
    for (int i = 0; i < n; i++) x = steps[i & 1023].step(x);
    return x;
  }

  public static long invokeInterfaceOfMany(int n) {
    int x = 1;
    final Step[] steps = STEPS;
    for (int i = 0; i < n; i++) x = steps[i & 1023].step(x);
    return x;
  }

  public static long newArray(int n) {
    for (int i = 0; i < n; i++) kept2 = new int[4];
    return n;
  }

  public static long newArrayFilled(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) {
      final int[] a = new int[8];
      a[x & 7] = i;
      kept2 = a;
      x = x * 3 + 1;
    }
    return x;
  }

  public static long newObject(int n) {
    for (int i = 0; i < n; i++) kept2 = new Object();
    return n;
  }

  public static long newCell(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) {
      final Cell cell = new Cell();
      cell.value = x;
      kept2 = cell;
      x = x * 5 + i;
    }
    return x;
  }

  public static long typeCheck(int n) {
    final Object[] objects = OBJECTS;
    int x = 1;
    for (int i = 0; i < n; i++) {
      final Object o = objects[i & 1023];
      if (!(o instanceof String)) break;
      x = x * 3 + i;
    }
    return x;
  }

  public static long typeCast(int n) {
    final Object[] objects = OBJECTS;
    int x = 1;
    for (int i = 0; i < n; i++) {
      kept2 = (String) objects[i & 1023];
      x = x * 3 + i;
    }
    return x;
  }

  public static long monitor(int n) {
    int x = 1;
    for (int i = 0; i < n; i++) {
      synchronized (LOCK) {
        x = x * 3 + i;
      }
    }
    return x;
  }

  // Combinations, as programs have them.

  public static long hashBytes(int n) {
    int h = 0;
    final byte[] a = BYTES;
    for (int i = 0; i < n; i++) h = 31 * h + (a[i & 1023] & 0xff);
    return h;
  }

  public static long checksum(int n) {
    int a = 1;
    int b = 0;
    final byte[] data = BYTES;
    for (int i = 0; i < n; i++) {
      a = (a + (data[i & 1023] & 0xff)) % 65521;
      b = (b + a) % 65521;
    }
    return b << 16 | a;
  }

  public static long dotProduct(int n) {
    double sum = 0;
    final double[] a = DOUBLES;
    for (int i = 0; i < n; i++) sum += a[i & 1023] * a[i + 7 & 1023];
    return (long) sum;
  }

  public static long shuffle(int n) {
    final int[] a = INTS;
    int seed = 1;
    for (int i = 0; i < n; i++) {
      seed = seed * 1103515245 + 12345;
      final int j = seed >>> 16 & 1023;
      final int t = a[i & 1023];
      a[i & 1023] = a[j];
      a[j] = t;
    }
    return a[0];
  }

  public static long particles(int n) {
    final Cell cell = new Cell();
    kept2 = cell;
    double x = 0;
    double v = 1;
    for (int i = 0; i < n; i++) {
      x = x + v * 0.01;
      v = v - x * 0.01;
      cell.value++;
    }
    return (long) x + cell.value;
  }
}
