// SPDX-License-Identifier: Apache-2.0
package app;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** Calls and exceptions through reflection, often enough (more than 15) for JDK 17 to generate an accessor class. */
public class ReflectThrow {
  public int field = 3;

  public ReflectThrow() {}

  public ReflectThrow(int n) {
    if (n % 3 == 0) throw new IllegalArgumentException("no " + n);
    field = n;
  }

  public int work(int n) {
    if (n % 4 == 0) throw new IllegalStateException("four");
    return n + helper(n);
  }

  static int helper(int n) {
    return n * 2;
  }

  public static int nested(Method method, Object target, int depth) throws Exception {
    if (depth == 0) return (Integer) method.invoke(target, 4);
    Method self = ReflectThrow.class.getMethod("nested", Method.class, Object.class, int.class);
    return (Integer) self.invoke(null, method, target, depth - 1);
  }

  static int depthOf(Throwable t) {
    return t instanceof InvocationTargetException ? 1 + depthOf(t.getCause()) : 0;
  }

  public static void main(String[] args) throws Exception {
    long sum = 0;
    Method work = ReflectThrow.class.getMethod("work", int.class);
    Constructor<ReflectThrow> make = ReflectThrow.class.getConstructor(int.class);
    Field field = ReflectThrow.class.getField("field");
    ReflectThrow target = new ReflectThrow();
    for (int i = 0; i < 40; i++) {
      try {
        sum += (Integer) work.invoke(target, i);
      } catch (InvocationTargetException e) {
        sum += 1000;
      }
      try {
        sum += field.getInt(make.newInstance(i));
      } catch (InvocationTargetException e) {
        sum += 100000;
      }
    }
    try {
      work.invoke(target, "wrong type");
    } catch (IllegalArgumentException e) {
      sum++;
    }
    try {
      work.invoke(null, 1);
    } catch (NullPointerException e) {
      sum++;
    }
    try {
      Array.get(new int[2], 5);
    } catch (ArrayIndexOutOfBoundsException e) {
      sum++;
    }
    try {
      nested(work, target, 5);
    } catch (InvocationTargetException e) {
      sum += depthOf(e) * 1000000L;
    }
    System.out.println("ReflectThrow " + sum);
  }
}
