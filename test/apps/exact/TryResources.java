// SPDX-License-Identifier: Apache-2.0
package app;

/** try-with-resources: order of close, suppressed exceptions, null resources, close that throws after a return. */
public class TryResources {
  static int log;

  static class Resource implements AutoCloseable {
    final int id;
    final boolean failClose;

    Resource(int id, boolean failOpen, boolean failClose) {
      if (failOpen) throw new IllegalArgumentException("open " + id);
      this.id = id;
      this.failClose = failClose;
    }

    int use(boolean fail) {
      if (fail) throw new IllegalStateException("use " + id);
      return id;
    }

    @Override public void close() {
      log = log * 7 + id;
      if (failClose) throw new UnsupportedOperationException("close " + id);
    }
  }

  static int run(int bits) {
    try (Resource a = new Resource(1, (bits & 1) != 0, (bits & 2) != 0);
        Resource none = null;
        Resource b = new Resource(2, (bits & 4) != 0, (bits & 8) != 0)) {
      return a.use((bits & 16) != 0) + b.use((bits & 32) != 0);
    } finally {
      log++;
    }
  }

  public static void main(String[] args) {
    int sum = 0;
    for (int bits = 0; bits < 64; bits++) {
      try {
        sum = sum * 3 + run(bits);
      } catch (RuntimeException e) {
        sum += e.getMessage().length() + e.getSuppressed().length * 100;
      }
    }
    System.out.println("TryResources " + sum + " " + log);
  }
}
