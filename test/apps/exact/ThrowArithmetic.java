// SPDX-License-Identifier: Apache-2.0
package app;

/** Division by zero: idiv, irem, ldiv, lrem; the floating point versions do not throw. */
public class ThrowArithmetic {
  static int idiv(int a, int b) { return 1 + a / b; }

  static int irem(int a, int b) { return 1 + a % b; }

  static long ldiv(long a, long b) { return 1 + a / b; }

  static long lrem(long a, long b) { return 1 + a % b; }

  static double ddiv(double a, double b) { return a / b + a % b; }

  static long all(int a, int b) {
    long sum = 0;
    try { sum += idiv(a, b); } catch (ArithmeticException e) { sum += 1; }
    try { sum += irem(a, b); } catch (ArithmeticException e) { sum += 2; }
    try { sum += ldiv(a, b); } catch (ArithmeticException e) { sum += 3; }
    try { sum += lrem(a, b); } catch (ArithmeticException e) { sum += 4; }
    return sum;
  }

  static int inPlace(int b) {
    int i = 0;
    while (true) {
      try {
        i += 3 + 10 / (b - i);
        if (i > 30 || i < -30) return i;
      } catch (ArithmeticException e) {
        i += 100;
      }
    }
  }

  public static void main(String[] args) {
    long sum = 0;
    for (int b = -2; b <= 2; b++) sum = sum * 17 + all(100, b) + all(Integer.MIN_VALUE, b);
    for (int b = 1; b < 40; b += 5) sum += inPlace(b);
    System.out.println("ThrowArithmetic " + sum + " " + Double.isNaN(ddiv(1, 0)));
  }
}
