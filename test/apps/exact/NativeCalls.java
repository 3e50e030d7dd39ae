// SPDX-License-Identifier: Apache-2.0
package app;

/**
 * JNI (native/native_calls.c): native methods that call back, throw, pass on and swallow exceptions, make objects and
 * trigger a static initialiser. A call that comes back from native code belongs below the native method.
 */
public class NativeCalls {
  static class Lazy {
    static int value;

    static {
      for (int i = 0; i < 6; i++) value += i;
    }
  }

  final int id;

  NativeCalls(int id) {
    if (id == 13) throw new IllegalArgumentException("thirteen");
    this.id = id;
  }

  static native int add(int a, int b);

  static native int callStatic(int n);

  native int callVirtual(int n);

  static native void throwNew(String message);

  static native int swallow(int n);

  static native NativeCalls make(int id);

  static native int readLazy();

  static native synchronized int recurse(int depth);

  static int callback(int n) {
    if (n < 0) throw new IllegalStateException("negative");
    return n + add(n, 1);
  }

  int virtualCallback(int n) { return id * n; }

  static int back(int depth) { return depth == 0 ? 1 : recurse(depth - 1) + 1; }

  static int guarded(int n) {
    try {
      return callStatic(n);
    } catch (IllegalStateException e) {
      return e.getMessage().length();
    }
  }

  public static void main(String[] args) {
    System.load(System.getProperty("app.native"));
    int sum = add(1, 2) + guarded(5) + guarded(-5);
    NativeCalls object = new NativeCalls(3) {
      @Override int virtualCallback(int n) { return super.virtualCallback(n) + 1; }
    };
    for (int i = 0; i < 5; i++) sum = sum * 3 + object.callVirtual(i);
    try {
      throwNew("from C");
    } catch (UnsupportedOperationException e) {
      sum += e.getMessage().length();
    }
    sum += swallow(4) + swallow(-4) + make(9).id + readLazy() + readLazy();
    try {
      make(13);
    } catch (IllegalArgumentException e) {
      sum += 1000;
    }
    System.out.println("NativeCalls " + (sum + recurse(7)));
  }
}
