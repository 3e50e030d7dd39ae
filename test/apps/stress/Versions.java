// SPDX-License-Identifier: Apache-2.0
package app;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.IntUnaryOperator;

/** Versions LOADERS CALLS: class loaders define app.VersionX, in turn as Version1 and as Version2 says, and call it. */
public final class Versions {
  static final class Loader extends ClassLoader {
    Loader() {
      super(Versions.class.getClassLoader());
    }

    Class<?> define(byte[] bytes) {
      return defineClass("app.VersionX", bytes, 0, bytes.length);
    }
  }

  /** The bytes of a class whose name ends with a digit, which becomes an X. */
  static byte[] renamed(String name) throws IOException {
    try (InputStream in = Versions.class.getResourceAsStream(name + ".class")) {
      final String text = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
      return text.replace(name, "VersionX").getBytes(StandardCharsets.ISO_8859_1);
    }
  }

  public static void main(String[] args) throws IOException, ReflectiveOperationException {
    final int loaders = Integer.parseInt(args[0]);
    final int calls = Integer.parseInt(args[1]);
    final byte[][] versions = {renamed("Version1"), renamed("Version2")};
    int sum = 0;
    for (int i = 0; i < loaders; i++) {
      final Class<?> loaded = new Loader().define(versions[i % 2]);
      final IntUnaryOperator function = (IntUnaryOperator) loaded.getDeclaredConstructor().newInstance();
      for (int k = 0; k < calls; k++) sum += function.applyAsInt(k);
    }
    System.out.println("sum " + sum);
  }
}
