// SPDX-License-Identifier: Apache-2.0
/** Depth: how many frames of several kinds of methods fit onto the stack, the first time and after many times. */
public final class Depth {
  interface Kind {
    void down();
  }

  static int depth;

  static void plain() {
    depth++;
    plain();
  }

  static long arguments(int a, long b, String c, double d, Object e) {
    depth++;
    return arguments(a + 1, b + a, c, d, e) + b;
  }

  static int guarded(int n) {
    try {
      depth++;
      return guarded(n + 1) + 1;
    } catch (IllegalStateException e) {
      return 0;
    }
  }

  static long locals(int n) {
    long a = n + 1, b = a * 3, c = b ^ a, d = c + b, e = d - a, f = e * c;
    depth++;
    return n < 0 ? 0 : locals(n + 1) + a + b + c + d + e + f;
  }

  /** As a parser or an evaluator: several methods, branches, an interface call. */
  static final class Expression {
    final Expression operand = this;

    int evaluate(int n) {
      depth++;
      return n % 3 == 0 ? negated(n) : n % 3 == 1 ? sum(n) : operand.evaluate(n + 1);
    }

    int negated(int n) {
      depth++;
      return -operand.evaluate(n + 1);
    }

    int sum(int n) {
      depth++;
      return operand.evaluate(n + 1) + leaf(n);
    }

    static int leaf(int n) {
      return n * 31;
    }
  }

  static int reached(Kind kind) {
    depth = 0;
    try {
      kind.down();
    } catch (StackOverflowError expected) {
      // That is what we are here for.
    }
    return depth;
  }

  public static void main(String[] args) {
    final Expression expression = new Expression();
    final Kind[] kinds = {
      Depth::plain,
      () -> arguments(0, 0, "", 0, null),
      () -> guarded(0),
      () -> locals(0),
      () -> expression.evaluate(0)
    };
    final String[] names = {"plain", "arguments", "guarded", "locals", "expression"};
    for (int i = 0; i < kinds.length; i++) {
      final int cold = reached(kinds[i]);
      int warm = cold;
      for (int n = 0; n < Integer.parseInt(args[0]); n++) warm = reached(kinds[i]);
      System.out.println(names[i] + " " + cold + " " + warm);
    }
  }
}
