// SPDX-License-Identifier: Apache-2.0
package app;

/** Static initialisers that throw: ExceptionInInitializerError first, NoClassDefFoundError afterwards. */
public class ClinitThrow {
  static class Bad {
    static int value = compute(0);

    static int compute(int by) {
      return 10 / by;
    }

    static int get() {
      return value;
    }
  }

  static class Worse {
    static final Object LOCK = new Object();
    static int value;

    static {
      value = 1;
      if (LOCK != null) throw new AssertionError("error, not wrapped");
    }
  }

  static class NeedsBad {
    static int value = 5;

    static {
      value += Bad.get();
    }
  }

  static class ChildOfBad extends Bad {
    static int own = 3;
  }

  static String name(Throwable t) {
    return t.getClass().getSimpleName() + (t.getCause() == null ? "" : "<" + t.getCause().getClass().getSimpleName());
  }

  static String attempt(int how) {
    try {
      switch (how) {
        case 0: return "" + Bad.value;
        case 1: return "" + Bad.get();
        case 2: return "" + new Bad();
        case 3: Bad.value = 1; return "put";
        case 4: return "" + Worse.value;
        case 5: return "" + Worse.LOCK;
        case 6: return "" + NeedsBad.value;
        case 7: return "" + ChildOfBad.own;
        default: return "none";
      }
    } catch (Throwable t) {
      return how < 1 ? name(t) : t.getClass().getSimpleName();
    }
  }

  public static void main(String[] args) {
    StringBuilder all = new StringBuilder();
    for (int round = 0; round < 2; round++) {
      for (int how = 0; how < 9; how++) all.append(attempt(how)).append(' ');
    }
    System.out.println("ClinitThrow " + all.length() + " " + all.toString().replace(' ', '_').substring(0, 30));
  }
}
