// SPDX-License-Identifier: Apache-2.0
package app;

/** OutOfMemory TIMES: fills the heap TIMES times, and works as before afterwards. */
public final class OutOfMemory {
  static Object[] fill(Object[] before) {
    final Object[] link = new Object[100_000];
    link[0] = before;
    return link;
  }

  static void fillForever() {
    Object[] all = null;
    while (true) all = fill(all);
  }

  static int leaf(int x) {
    return x * 31 + 7;
  }

  static int after(int x) {
    return leaf(x) + 1;
  }

  public static void main(String[] args) {
    int caught = 0;
    for (int i = 0; i < Integer.parseInt(args[0]); i++) {
      try {
        fillForever();
      } catch (OutOfMemoryError expected) {
        caught++;
      }
    }
    int x = 0;
    for (int i = 0; i < 1000; i++) x = after(x);
    System.out.println("caught " + caught + ", x " + x);
  }
}
