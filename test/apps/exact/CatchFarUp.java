// SPDX-License-Identifier: Apache-2.0
package app;

/** Exceptions that pass several frames, of the application and of the JDK, before they are caught. */
public class CatchFarUp {
  static class Light extends RuntimeException {
    static final Light INSTANCE = new Light();

    Light() { super("light", null, false, false); }
  }

  static int down(int depth, int kind) {
    int x = depth * 2;
    if (depth == 0) {
      if (kind == 0) throw Light.INSTANCE;
      if (kind == 1) return Integer.parseInt("not a number");
      if (kind == 2) return "short".charAt(50);
      if (kind == 3) java.util.List.of(1, 2).forEach(n -> { throw new IllegalStateException("in lambda"); });
      return x / depth;
    }
    return depth % 2 == 0 ? down(depth - 1, kind) + x : viaJdk(depth, kind);
  }

  static int viaJdk(int depth, int kind) {
    java.util.function.IntSupplier supplier = () -> down(depth - 1, kind);
    return java.util.stream.IntStream.of(depth).map(n -> n + supplier.getAsInt()).sum();
  }

  static int top(int depth, int kind) {
    try {
      return down(depth, kind);
    } catch (NumberFormatException e) {
      return 1;
    } catch (IllegalStateException e) {
      return e.getMessage().length();
    } catch (Light e) {
      return 3;
    } catch (IndexOutOfBoundsException | ArithmeticException e) {
      return 4;
    }
  }

  public static void main(String[] args) {
    int sum = 0;
    for (int depth = 0; depth < 7; depth++) {
      for (int kind = 0; kind < 5; kind++) sum = sum * 3 + top(depth, kind);
    }
    System.out.println("CatchFarUp " + sum);
  }
}
