// SPDX-License-Identifier: Apache-2.0
package app;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;

/** Method handles: exact and generic, bound, converted, guarded, catching; VarHandles; exceptions through them. */
public class Handles {
  int field = 2;

  static int add(int a, int b) { return a + b; }

  static int fail(int a, int b) { throw new IllegalStateException("fail " + a); }

  static int handler(IllegalStateException e, int a, int b) { return e.getMessage().length() + b; }

  static boolean test(int a, int b) { return a > b; }

  private int hidden(int n) { return field * n; }

  public static void main(String[] args) throws Throwable {
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    MethodType type = MethodType.methodType(int.class, int.class, int.class);
    MethodHandle add = lookup.findStatic(Handles.class, "add", type);
    MethodHandle fail = lookup.findStatic(Handles.class, "fail", type);
    MethodHandle test = lookup.findStatic(Handles.class, "test", type.changeReturnType(boolean.class));
    MethodHandle handler =
        lookup.findStatic(Handles.class, "handler", type.insertParameterTypes(0, IllegalStateException.class));
    MethodHandle hidden = lookup.findVirtual(Handles.class, "hidden", MethodType.methodType(int.class, int.class));
    VarHandle field = lookup.findVarHandle(Handles.class, "field", int.class);
    Handles object = new Handles();
    MethodHandle guarded = MethodHandles.guardWithTest(test, add, fail);
    MethodHandle safe = MethodHandles.catchException(guarded, IllegalStateException.class, handler);
    MethodHandle bound = hidden.bindTo(object);
    int sum = 0;
    for (int i = 0; i < 6; i++) {
      sum = sum * 3 + (int) add.invokeExact(i, 1) + (int) safe.invokeExact(i, 3) + (int) bound.invokeExact(i);
      sum += (Integer) add.invoke((short) i, (Integer) 2);
      field.getAndAdd(object, 1);
      try {
        sum += (int) guarded.invokeExact(i, 3);
      } catch (IllegalStateException e) {
        sum += 100;
      }
    }
    sum += (int) add.invokeWithArguments(4, 5);
    try {
      sum += (int) (Integer) add.invokeExact(1, 2);
    } catch (java.lang.invoke.WrongMethodTypeException e) {
      sum += 1000;
    }
    System.out.println("Handles " + sum);
  }
}
