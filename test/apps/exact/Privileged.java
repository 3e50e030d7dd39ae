// SPDX-License-Identifier: Apache-2.0
package app;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;

/** doPrivileged: JDK code that calls back, returns values and passes or wraps exceptions. */
@SuppressWarnings({"removal", "deprecation"})
public class Privileged {
  static int value = 3;

  static int compute(int n) {
    value = value * 31 + n;
    return value;
  }

  public static void main(String[] args) {
    int sum = 0;
    for (int i = 0; i < 5; i++) {
      final int n = i;
      sum += AccessController.doPrivileged((PrivilegedAction<Integer>) () -> compute(n));
      try {
        sum += AccessController.doPrivileged(
            new PrivilegedExceptionAction<Integer>() {
              @Override
              public Integer run() throws Exception {
                if (n == 3) throw new Exception("checked");
                if (n == 4) throw new IllegalStateException("unchecked");
                return compute(n) + AccessController.doPrivileged((PrivilegedAction<Integer>) () -> compute(-n));
              }
            });
      } catch (PrivilegedActionException e) {
        sum += e.getException().getMessage().length();
      } catch (IllegalStateException e) {
        sum += 5;
      }
    }
    System.out.println("Privileged " + sum);
  }
}
