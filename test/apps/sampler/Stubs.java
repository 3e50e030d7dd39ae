// SPDX-License-Identifier: Apache-2.0
package app;

/**
 * Stubs SECONDS: compiled code that is in the JVM's stubs most of the time. With -XX:TieredStopAtLevel=1 the subtype check calls one with
 * two arguments that it pushes, an exception has the JVM asked in each frame that it leaves where to go on, and references from old
 * objects to young ones are noted by another.
 */
public final class Stubs {
  private Stubs() {}

  interface Red {}

  interface Green {}

  interface Blue {}

  static final class Colour implements Red, Green, Blue {}

  private static final RuntimeException LEAVES = new RuntimeException("leaves", null, false, false) {};
  private static final Object[] OLD = new Object[1 << 16];

  /** An object remembers the last of its interfaces that it was asked for. */
  static int subtypes(Object[] colours) {
    int found = 0;
    for (Object colour : colours) {
      if (colour instanceof Red) found++;
      if (colour instanceof Blue) found++;
    }
    return found;
  }

  static int thrown(int depth) {
    if (depth == 0) throw LEAVES;
    return thrown(depth - 1) + 1;
  }

  static int exceptions() {
    int caught = 0;
    for (int i = 0; i < 100; i++) {
      try {
        caught += thrown(4);
      } catch (RuntimeException e) {
        caught++;
      }
    }
    return caught;
  }

  static int references(int first) {
    for (int i = 0; i < 1000; i++) OLD[(first + i * 64) & (OLD.length - 1)] = new Object();
    return OLD.length;
  }

  public static void main(String[] args) {
    final long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
    final Object[] colours = new Object[200];
    for (int i = 0; i < colours.length; i++) colours[i] = new Colour();
    long sum = 0;
    while (System.nanoTime() < end) sum += subtypes(colours) + exceptions() + references((int) sum);
    System.out.println(sum > 0 ? "done" : "nothing");
  }
}
