// SPDX-License-Identifier: Apache-2.0
package app;

/** Switches over types, with guards, record patterns, enums and null (invokedynamic typeSwitch). */
public class PatternSwitch {
  sealed interface Shape permits Circle, Square, Pair {}

  record Circle(int r) implements Shape {}

  record Square(int a) implements Shape {
    public int a() {
      if (a < 0) throw new IllegalStateException("negative");
      return a;
    }
  }

  record Pair(Shape left, Shape right) implements Shape {}

  enum Colour { RED, GREEN }

  static int area(Shape shape) {
    return switch (shape) {
      case Circle(int r) when r > 10 -> -1;
      case Circle(int r) -> 3 * r * r;
      case Square(int a) -> a * a;
      case Pair(Circle(int r), Square(int a)) -> r + a;
      case Pair(Shape left, Shape right) -> area(left) + area(right);
    };
  }

  static int any(Object o) {
    return switch (o) {
      case null -> 1;
      case Integer i when i > 5 -> i;
      case Integer i -> -i;
      case String s -> s.length();
      case Colour c when c == Colour.RED -> 70;
      case int[] array -> array.length;
      default -> 9;
    };
  }

  public static void main(String[] args) {
    int sum = 0;
    Shape[] shapes = {
      new Circle(11), new Circle(2), new Square(3), new Pair(new Circle(1), new Square(2)),
      new Pair(new Square(1), new Pair(new Square(2), new Circle(3))), new Square(-1)
    };
    for (int round = 0; round < 3; round++) {
      for (Shape shape : shapes) {
        try {
          sum = sum * 3 + area(shape);
        } catch (MatchException e) {
          sum += 1000;
        }
      }
    }
    Object[] objects = {null, 3, 8, "text", Colour.RED, Colour.GREEN, new int[4], 2.5};
    for (Object o : objects) sum = sum * 5 + any(o);
    System.out.println("PatternSwitch " + sum);
  }
}
