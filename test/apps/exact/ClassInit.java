// SPDX-License-Identifier: Apache-2.0
package app;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Each way to trigger a static initialiser, and what does not trigger one. The work inside must be counted. */
public class ClassInit {
  static int order;

  static int init(int n) {
    int x = 0;
    for (int i = 0; i < n; i++) x += i;
    order = order * 3 + n;
    return x;
  }

  static class ByGet { static int x = init(1); }

  static class ByPut { static int x = init(2); }

  static class ByCall {
    static int x = init(3);

    static int get() { return x; }
  }

  static class ByNew { static int x = init(4); }

  static class ByForName { static int x = init(5); }

  static class ByReflection {
    static int x = init(6);

    public static int get() { return x; }
  }

  static class ByHandle {
    static int x = init(7);

    static int get() { return x; }
  }

  static class ByNewInstance {
    static int x = init(8);

    public ByNewInstance() {}
  }

  static class Parent { static int x = init(9); }

  static class Child extends Parent { static int y = init(10); }

  static class Constant {
    static final int CONSTANT = 11;
    static int x = init(11);
  }

  static class ByLambda {
    static int x = init(12);

    static int get() { return x; }
  }

  static class ByField { public static int x = init(13); }

  static class NotAtAll { static int x = init(14); }

  public static void main(String[] args) throws Throwable {
    int sum = ByGet.x;
    ByPut.x = 5;
    sum += ByCall.get();
    new ByNew();
    Class.forName("app.ClassInit$ByForName");
    sum += (Integer) ByReflection.class.getMethod("get").invoke(null);
    MethodType type = MethodType.methodType(int.class);
    sum += (int) MethodHandles.lookup().findStatic(ByHandle.class, "get", type).invokeExact();
    ByNewInstance.class.getConstructor().newInstance();
    sum += Child.x;
    sum += Child.y;
    sum += Constant.CONSTANT;
    java.util.function.IntSupplier supplier = ByLambda::get;
    sum += supplier.getAsInt();
    sum += ByField.class.getField("x").getInt(null);
    sum += new NotAtAll[3].length + NotAtAll.class.getName().length();
    Class.forName("app.ClassInit$NotAtAll", false, ClassInit.class.getClassLoader());
    System.out.println("ClassInit " + sum + " " + order);
  }
}
