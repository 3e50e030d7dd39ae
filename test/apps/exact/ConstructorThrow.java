// SPDX-License-Identifier: Apache-2.0
package app;

/** Exceptions in constructors: in arguments of super() and this(), from super(), in field initialisers, after. */
public class ConstructorThrow {
  static class Base {
    final int value;

    Base(int value) {
      if (value == 1) throw new IllegalArgumentException("base");
      this.value = value;
    }
  }

  static int argument(int how) {
    if (how == 0) throw new IllegalStateException("argument");
    return how;
  }

  static class Derived extends Base {
    final int field = 10 / (value - 2);
    final int[] more;

    Derived(int how) {
      super(argument(how) + 0);
      more = new int[how - 4 < 0 ? -how + 3 : 2];
      if (how == 5) throw new RuntimeException("after");
    }

    Derived(int a, int b) {
      this(a / b);
    }

    Derived(String text) {
      super(text == null ? 1 : text.length() > 3 ? argument(0) : text.charAt(0));
      more = null;
    }
  }

  class Inner extends Derived {
    Inner(int how) {
      super(how, how - 6);
    }
  }

  static String attempt(int how) {
    try {
      return "made " + new Derived(how).field;
    } catch (RuntimeException e) {
      return e.getClass().getSimpleName();
    }
  }

  static String attemptText(String text) {
    try {
      return "made " + new Derived(text).value;
    } catch (RuntimeException e) {
      return e.getMessage() + "";
    }
  }

  static String attemptInner(ConstructorThrow outer, int how) {
    try {
      return "inner " + outer.new Inner(how).value;
    } catch (RuntimeException e) {
      return e.getClass().getSimpleName();
    }
  }

  public static void main(String[] args) {
    StringBuilder all = new StringBuilder();
    for (int how = 0; how < 8; how++) all.append(attempt(how)).append(',');
    for (String text : new String[] {null, "", "a", "long text"}) {
      all.append(attemptText(text).length()).append(',');
    }
    ConstructorThrow outer = new ConstructorThrow();
    for (int how = 5; how < 9; how++) all.append(attemptInner(outer, how));
    all.append(attemptInner(null, 7));
    System.out.println("ConstructorThrow " + all.toString().hashCode());
  }
}
