// SPDX-License-Identifier: Apache-2.0
package app;

/** finally in all positions: nested, rethrown, replacing the exception, with return, break and continue. */
public class FinallyNested {
  static int log;

  static void note(int n) {
    log = log * 3 + n;
  }

  static int nested(int how) {
    try {
      note(1);
      try {
        note(2);
        if (how == 1) throw new IllegalStateException();
        if (how == 2) return how;
        try {
          if (how == 3) throw new IllegalArgumentException();
          note(3);
        } finally {
          note(4);
          if (how == 4) throw new UnsupportedOperationException();
        }
      } catch (IllegalStateException e) {
        note(5);
        throw new RuntimeException(e);
      } finally {
        note(6);
        if (how == 5) throw new IllegalStateException();
      }
    } finally {
      note(7);
    }
    return -1;
  }

  @SuppressWarnings("finally")
  static int swallow(int n) {
    try {
      if (n > 2) throw new RuntimeException();
      return n;
    } finally {
      return n * 10;
    }
  }

  @SuppressWarnings("finally")
  static int loops(int n) {
    int sum = 0;
    outer:
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        try {
          if (j == 1) continue;
          if (j == 3) continue outer;
          if (i == 4) break outer;
          sum += i * j / (j - 2 == 0 ? i - 1 : 1);
        } catch (ArithmeticException e) {
          sum += 1000;
        } finally {
          sum++;
          if (j == 5) break;
        }
      }
    }
    return sum;
  }

  static void rethrow(int depth) throws Exception {
    try {
      if (depth == 0) throw new Exception("bottom");
      rethrow(depth - 1);
    } catch (Exception e) {
      note(depth);
      throw e;
    } finally {
      note(depth + 1);
    }
  }

  public static void main(String[] args) {
    int sum = 0;
    for (int how = 0; how < 7; how++) {
      try {
        sum += nested(how);
      } catch (RuntimeException e) {
        sum += e.getClass().getSimpleName().length();
      }
    }
    for (int n = 0; n < 6; n++) sum += swallow(n) + loops(n);
    try {
      rethrow(6);
    } catch (Exception e) {
      sum += e.getMessage().length();
    }
    System.out.println("FinallyNested " + sum + " " + log);
  }
}
