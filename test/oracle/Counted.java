// SPDX-License-Identifier: Apache-2.0
package app;

/**
 * Small enough to count by hand. Beside each method is what `javap -c` shows, without operands; hand_counted.py has the
 * resulting numbers and their derivation.
 */
public class Counted {
  static int field;

  // iload_0 iload_1 iadd ireturn
  static int straight(int a, int b) { return a + b; }

  // iconst_0 istore_1 iconst_0 istore_2 | iload_2 iload_0 if_icmpge | iload_1 iload_2 iadd istore_1 iinc goto |
  // iload_1 ireturn
  static int loop(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += i;
    return sum;
  }

  // iload_0 iload_1 idiv ireturn
  static int divide(int a, int b) { return a / b; }

  // iload_0 iload_1 invokestatic ireturn | astore_2 iconst_m1 ireturn
  static int guarded(int a, int b) {
    try {
      return divide(a, b);
    } catch (ArithmeticException e) {
      return -1;
    }
  }

  // aload_0 arraylength ireturn | astore_1 iconst_m1 ireturn
  static int local(int[] a) {
    try {
      return a.length;
    } catch (NullPointerException e) {
      return -1;
    }
  }

  // getstatic dup iconst_1 isub putstatic ifle | invokestatic | return
  static void down() {
    if (field-- > 0) down();
  }

  // Initialised by getstatic: <clinit> is bipush putstatic return
  static class Lazy {
    static int value = 42;
  }

  // new dup invokespecial | <init> of Thrown: aload_0 invokespecial return | athrow
  static class Thrown extends RuntimeException {}

  static int fail() { throw new Thrown(); }

  // aload_0 getfield ireturn, which the interpreter makes one instruction of unless it is told not to; <init> is
  // aload_0 invokespecial aload_0 iconst_5 putfield return
  static class Cell {
    int value = 5;

    int value() { return value; }
  }

  // new dup invokespecial astore_0 iconst_0 istore_1 | iload_1 bipush if_icmpge | aload_0 invokevirtual pop iinc goto |
  // return
  static void accessors() {
    Cell cell = new Cell();
    for (int i = 0; i < 50; i++) cell.value();
  }

  // iload_0 tableswitch | iconst_1 ireturn | bipush ireturn | iconst_m1 ireturn
  static int choose(int n) {
    switch (n) {
      case 1: return 1;
      case 2: return 20;
      default: return -1;
    }
  }

  // invokedynamic astore_0 | aload_0 invokeinterface | aload_0 invokeinterface | return;
  // lambda$lambda$0 is iconst_1 iconst_2 invokestatic putstatic return
  static void lambda() {
    Runnable r = () -> field = straight(1, 2);
    r.run();
    r.run();
  }

  // aload_0 dup astore_1 monitorenter | getstatic iconst_1 iadd putstatic | aload_1 monitorexit goto | return
  static void locked(Object lock) {
    synchronized (lock) {
      field++;
    }
  }

  // Not hand-counted itself: each call above, once.
  public static void main(String[] args) {
    straight(1, 2);
    loop(0);
    loop(10);
    guarded(6, 3);
    guarded(6, 0);
    local(new int[1]);
    local(null);
    field = 4;
    down();
    field = Lazy.value;
    try {
      fail();
    } catch (Thrown e) {
      field++;
    }
    accessors();
    choose(1);
    choose(2);
    choose(3);
    lambda();
    locked("lock");
    System.out.println("Counted " + field);
  }
}
