// SPDX-License-Identifier: Apache-2.0
package app;

/** Nested try/catch in loops, overlapping ranges, several handlers for one throw, often enough to be compiled. */
public class CatchInLoop {
  static class Odd extends RuntimeException {}

  static class Third extends Odd {}

  static int risky(int n) {
    if (n % 3 == 0) throw new Third();
    if (n % 2 == 1) throw new Odd();
    return 100 / (n % 10);
  }

  static int nested(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
      try {
        try {
          sum += risky(i);
          sum++;
        } catch (Third e) {
          sum += 2;
          if (i % 2 == 0) throw e;
          sum += 3;
        } catch (ArithmeticException e) {
          sum += 1000;
        } finally {
          sum ^= i;
        }
        sum += 4;
      } catch (Odd e) {
        sum += 5;
        continue;
      }
      sum += 6;
    }
    return sum;
  }

  static int retry(int n) {
    int attempts = 0;
    while (true) {
      try {
        attempts++;
        return risky(n--) + attempts;
      } catch (Odd e) {
        if (n < 0) return -attempts;
      }
    }
  }

  public static void main(String[] args) {
    int sum = 0;
    for (int i = 0; i < 20; i++) sum = sum * 3 + nested(i * 10);
    for (int i = 1; i < 30; i++) {
      try {
        sum += retry(i);
      } catch (ArithmeticException e) {
        sum--;
      }
    }
    System.out.println("CatchInLoop " + sum);
  }
}
