// SPDX-License-Identifier: Apache-2.0
package app;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** Unloading LOADERS CALLS: each class loader defines app.Unloaded anew, an instance is called CALLS times, all is dropped. */
public final class Unloading {
  static final class Loader extends ClassLoader {
    private final byte[] bytes;

    Loader(byte[] bytes) {
      super(Unloading.class.getClassLoader());
      this.bytes = bytes;
    }

    Class<?> define() {
      return defineClass("app.Unloaded", bytes, 0, bytes.length);
    }
  }

  static int use(byte[] bytes, int calls, List<WeakReference<Class<?>>> seen) throws ReflectiveOperationException {
    final Class<?> loaded = new Loader(bytes).define();
    seen.add(new WeakReference<>(loaded));
    final IntUnaryOperator function = (IntUnaryOperator) loaded.getDeclaredConstructor().newInstance();
    int x = 1;
    for (int i = 0; i < calls; i++) x = function.applyAsInt(x);
    return x;
  }

  public static void main(String[] args) throws IOException, ReflectiveOperationException {
    final int loaders = Integer.parseInt(args[0]);
    final int calls = Integer.parseInt(args[1]);
    final byte[] bytes;
    try (InputStream in = Unloading.class.getResourceAsStream("Unloaded.class")) {
      bytes = in.readAllBytes();
    }
    final List<WeakReference<Class<?>>> seen = new ArrayList<>();
    int sum = 0;
    for (int i = 0; i < loaders; i++) {
      sum += use(bytes, calls, seen);
      if (i % 50 == 49) System.gc();
    }
    System.gc();
    int unloaded = 0;
    for (WeakReference<Class<?>> reference : seen) {
      if (reference.get() == null) unloaded++;
    }
    System.out.println("sum " + sum);
    System.out.println(unloaded > loaders / 2 ? "most were unloaded" : "only " + unloaded + " were unloaded");
  }
}
