// SPDX-License-Identifier: Apache-2.0
package app;

/** Calls hot enough for C1 and C2: accessors that inline, one, two and many receivers, exceptions in compiled code. */
public class HotMix {
  interface Shape { int area(int n); }

  static class A implements Shape { public int area(int n) { return n; } }

  static class B implements Shape { public int area(int n) { return n * 2; } }

  static class C implements Shape { public int area(int n) { return n * 3 - helper(n); } }

  static class D extends C { @Override public int area(int n) { return super.area(n) + 1; } }

  static class E implements Shape { public int area(int n) { return n > 30 ? n / (n % 16) : n; } }

  static class F extends A {}

  static int helper(int n) { return n & 1; }

  int value;

  int value() { return value; }

  void add(int n) { value = value() + n; }

  static int measure(Shape shape, int n) {
    try {
      return shape.area(n);
    } catch (ArithmeticException e) {
      return -1;
    }
  }

  static int nulls(int[] a) {
    try {
      return a[0] + a.length;
    } catch (NullPointerException e) {
      return 1;
    }
  }

  public static void main(String[] args) {
    HotMix mix = new HotMix();
    Shape[] shapes = {new A(), new B(), new C(), new D(), new E(), new F()};
    int[] one = {3};
    for (int i = 0; i < 12_000; i++) {
      Shape shape = i < 6000 ? shapes[i & 1] : shapes[i % 6]; // the profile of the call site changes half-way
      mix.add(measure(shape, i % 64));
      mix.add(nulls(i % 97 == 0 ? null : one));
    }
    System.out.println("HotMix " + mix.value());
  }
}
