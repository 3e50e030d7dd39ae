// SPDX-License-Identifier: Apache-2.0
package app;

/** Overflowing loops and nearly every arithmetic, conversion, comparison and stack instruction that javac emits. */
public class Arithmetic {
  static int si;
  static long sl;
  int fi;
  long fl;
  double fd;

  static int ints(int n) {
    int a = n, b = 7;
    for (int i = Integer.MAX_VALUE - 20; i > 0; i++) {
      a = a * 31 + (a >>> 3) - (b << 2) ^ (a & b | i);
      b = -b + a % 13 / 2 >> 1;
      b = ~b;
    }
    return a + b;
  }

  static long longs(long n) {
    long a = n, b = 7;
    for (long i = Long.MAX_VALUE - 20; i > 0; i++) {
      a = a * 31 + (a >>> 3) - (b << 2) ^ (a & b | i);
      b = -b + a % 13 / 2 >> 1;
    }
    return a + b;
  }

  static double floats(float f, double d) {
    for (int i = 0; i < 10; i++) {
      f = -f * 1.5f + i % 3f / 2;
      d = -d * 1.25 - f + i % 7.0 / 3;
      if (f > 1 || f <= -1) f = (float) d / 100;
      if (d < 0 && d >= -50 || d != d) d = f + 1;
    }
    return d + f;
  }

  static int convert(int i, long j, float f, double d) {
    return (byte) i + (char) i + (short) i + (int) j + (int) f + (int) d + (int) (long) f + (int) (long) d
        + (int) (float) d + (int) (double) i + (int) (float) j + (int) (double) j + (int) (double) f;
  }

  int fields(int n) {
    fi = fi++ + ++fi;
    fl = fl-- - --fl + (fi += n);
    fd += fl++ * 2;
    si = si++ + (si *= 3) + 1;
    sl += si = fi++;
    int[] a = {1, 2, 3};
    long[] l = {4, 5};
    a[a[0]++] += a[1]--;
    l[0] = l[1]++ + (l[1] <<= 2);
    a[2] = a[1] = (int) l[0];
    return fi + (int) fl + (int) fd + si + (int) sl + a[2];
  }

  static int compare(int a, Integer b, Object o, Object p) {
    int r = 0;
    if (a == 0) r += 1;
    if (a != 5) r += 2;
    if (a < 0) r += 4;
    if (a >= 0 && a <= 3) r += 8;
    if (a > b) r += 16;
    if (a < b) r += 32;
    if (o == p) r += 64;
    if (o != null) r += 128;
    if (p == null) r += 256;
    return o instanceof Integer ? r + 512 : r;
  }

  public static void main(String[] args) {
    long sum = ints(5) + longs(11) + (long) floats(1.5f, -2.5);
    sum = sum * 3 + convert(70000, 1L << 33, 3.7f, -1e20);
    Arithmetic object = new Arithmetic();
    for (int i = 0; i < 5; i++) sum = sum * 7 + object.fields(i) + compare(i - 2, i, i == 1 ? null : i, object);
    System.out.println("Arithmetic " + sum);
  }
}
