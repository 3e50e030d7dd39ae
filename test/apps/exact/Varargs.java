// SPDX-License-Identifier: Apache-2.0
package app;

/** Varargs, boxing and unboxing, overload choice, null arrays. */
public class Varargs {
  static int count(Object... all) { return all == null ? -1 : all.length; }

  static long sum(long... all) {
    long sum = 0;
    for (long n : all) sum += n;
    return sum;
  }

  static int pick(int a) { return 1; }

  static int pick(Integer a) { return 2; }

  static int pick(Object a) { return 3; }

  static int pick(int... a) { return 4; }

  @SafeVarargs
  static <T extends Comparable<T>> T max(T first, T... rest) {
    T best = first;
    for (T t : rest) if (t.compareTo(best) > 0) best = t;
    return best;
  }

  static Integer boxed(int n) { return n > 3 ? null : Integer.valueOf(n); }

  public static void main(String[] args) {
    int sum = count() + count(1) + count(1, "b", 'c') + count((Object[]) null) + count((Object) null);
    sum += sum() + sum(1) + sum(1, 2, 3);
    sum = sum * 5 + pick(1) + pick(Integer.valueOf(1)) * 2 + pick("s") * 3 + pick() * 4 + pick(1, 2) * 5;
    sum += max(3, 9, 4) + max("b", "abc").length();
    for (int i = 0; i < 6; i++) {
      try {
        int n = boxed(i);
        sum += n;
      } catch (NullPointerException e) {
        sum += 100;
      }
    }
    System.out.println("Varargs " + sum);
  }
}
