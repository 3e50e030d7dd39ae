// SPDX-License-Identifier: Apache-2.0

/** Two tasks, for ever: one of many short calls, an expression that is evaluated, and one of methods that take microseconds. */
public final class Tasks {
  interface Node {
    long value(long x);
  }

  record Constant(long value) implements Node {
    @Override
    public long value(long x) {
      return value;
    }
  }

  record Argument() implements Node {
    @Override
    public long value(long x) {
      return x;
    }
  }

  record Sum(Node left, Node right) implements Node {
    @Override
    public long value(long x) {
      return left.value(x) + right.value(x);
    }
  }

  record Product(Node left, Node right) implements Node {
    @Override
    public long value(long x) {
      return mix(left.value(x) * right.value(x));
    }
  }

  static long mix(long x) {
    return x ^ x >>> 7;
  }

  static Node tree(int depth, int seed) {
    if (depth == 0) return (seed & 3) == 0 ? new Constant(seed) : new Argument();
    final Node left = tree(depth - 1, seed * 31 + 1);
    final Node right = tree(depth - 1, seed * 17 + 3);
    return (seed & 1) == 0 ? new Sum(left, right) : new Product(left, right);
  }

  static long dense(Node tree, long x) {
    long sum = 0;
    for (int i = 0; i < 4; i++) sum += tree.value(x + i);
    return sum;
  }

  static long coarse(int[] data, long x) {
    long sum = 0;
    for (int i = 0; i < 50; i++) sum += step(data, x + i);
    return sum;
  }

  static long step(int[] data, long x) {
    long sum = x;
    for (final int value : data) sum = sum * 31 + (value ^ sum >>> 3);
    return sum;
  }

  static volatile long result;

  public static void main(String[] args) {
    final Node tree = tree(9, 5);
    final int[] data = new int[1500];
    for (int i = 0; i < data.length; i++) data[i] = i * 7919;
    for (long n = 0; ; n++) result += dense(tree, n) + coarse(data, n);
  }
}
