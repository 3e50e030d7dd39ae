// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/** Inner, anonymous and local classes with captured variables, private access between nestmates, shadowed fields. */
public class InnerClasses {
  private int state = 1;

  private int secret(int n) { return state * n; }

  class Counter {
    int state = 10;

    int next() { return ++state + secret(InnerClasses.this.state++); }

    class Deep {
      private int all() { return next() + InnerClasses.this.secret(2) + state; }
    }
  }

  static class Nested {
    private static int made;
    private final int id = ++made;
  }

  IntSupplier local(final int captured, String text) {
    int[] box = {captured};
    class Local implements IntSupplier {
      final int more;

      Local(int more) { this.more = more; }

      public int getAsInt() { return box[0]++ + more + text.length() + state; }
    }
    return new Local(captured * 2);
  }

  static List<IntSupplier> anonymous(int n) {
    List<IntSupplier> all = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      final int index = i;
      all.add(new IntSupplier() {
        int uses;

        { uses = index; }

        @Override public int getAsInt() { return uses++ * 10 + index + new Nested().id; }
      });
    }
    return all;
  }

  public static void main(String[] args) {
    InnerClasses outer = new InnerClasses();
    Counter counter = outer.new Counter();
    int sum = counter.next() + counter.next() + counter.new Deep().all();
    IntSupplier local = outer.local(5, "text");
    sum += local.getAsInt() + local.getAsInt();
    for (IntSupplier s : anonymous(4)) sum = sum * 3 + s.getAsInt() + s.getAsInt();
    try {
      InnerClasses none = null;
      none.new Counter();
    } catch (NullPointerException e) {
      sum++;
    }
    System.out.println("InnerClasses " + sum);
  }
}
