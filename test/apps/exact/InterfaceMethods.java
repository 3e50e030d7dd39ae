// SPDX-License-Identifier: Apache-2.0
package app;

/** Static, private and default methods of interfaces; constants whose initialisation is triggered by use. */
public class InterfaceMethods {
  static int trace;

  static int mark(int n) {
    trace = trace * 10 + n;
    return n;
  }

  interface Helper {
    int LAZY = mark(1);

    static int twice(int n) { return n * 2; }

    private int hidden(int n) { return n + LAZY; }

    private static int hiddenStatic(int n) { return n - 1; }

    default int use(int n) { return hidden(n) + hiddenStatic(n) + twice(n); }
  }

  interface WithDefault {
    int VALUE = mark(2);

    default int d() { return 1; }
  }

  interface WithoutDefault {
    int VALUE = mark(3);
  }

  static class Impl implements Helper, WithDefault, WithoutDefault {
    static final int OWN = mark(4);
  }

  sealed interface Shape permits Circle, Square {
    int area();

    static Shape of(int n) { return n % 2 == 0 ? new Circle(n) : new Square(n); }
  }

  record Circle(int r) implements Shape { public int area() { return 3 * r * r; } }

  record Square(int a) implements Shape { public int area() { return a * a; } }

  public static void main(String[] args) {
    int sum = Helper.twice(4);
    Impl impl = new Impl();
    sum += impl.use(5) + impl.d() + WithoutDefault.VALUE + Impl.OWN;
    for (int i = 0; i < 6; i++) {
      Shape shape = Shape.of(i);
      sum += shape.area();
      if (shape instanceof Circle c && c.r() > 2) sum += c.r();
    }
    System.out.println("InterfaceMethods " + sum + " " + trace);
  }
}
