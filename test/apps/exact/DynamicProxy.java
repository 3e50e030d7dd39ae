// SPDX-License-Identifier: Apache-2.0
package app;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.lang.reflect.UndeclaredThrowableException;

/** Dynamic proxies: delegation, exceptions through them, an undeclared checked exception, and a proxy of a proxy. */
public class DynamicProxy {
  public interface Service {
    int serve(int n);

    default int twice(int n) {
      return serve(n) + serve(n + 1);
    }
  }

  static class Real implements Service {
    public int serve(int n) {
      if (n == 7) throw new IllegalStateException("seven");
      return n * n;
    }
  }

  static class Handler implements InvocationHandler {
    final Object target;
    int calls;

    Handler(Object target) {
      this.target = target;
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] args) throws Throwable {
      calls++;
      if (method.getDeclaringClass() == Object.class) return method.getName().length();
      if (((Integer) args[0]) == 9) throw new Exception("undeclared");
      try {
        return method.invoke(target, args);
      } catch (InvocationTargetException e) {
        throw e.getCause();
      }
    }
  }

  static Service wrap(Handler handler) {
    return (Service)
        Proxy.newProxyInstance(DynamicProxy.class.getClassLoader(), new Class<?>[] {Service.class}, handler);
  }

  public static void main(String[] args) {
    Handler inner = new Handler(new Real());
    Handler outer = new Handler(wrap(inner));
    Service service = wrap(outer);
    int sum = service.hashCode();
    for (int n = 0; n < 12; n++) {
      try {
        sum = sum * 5 + service.serve(n) + service.twice(n);
      } catch (UndeclaredThrowableException e) {
        sum += 1000;
      } catch (IllegalStateException e) {
        sum += 77;
      }
    }
    System.out.println("DynamicProxy " + sum + " " + inner.calls + " " + outer.calls);
  }
}
