// SPDX-License-Identifier: Apache-2.0
package app;

/** System.exit below frames that never return, with a hook. Their calls and bytecodes count. */
public class ExitDeep {
  static int state;

  static void dive(int depth) {
    int x = 0;
    for (int i = 0; i < depth; i++) x += i;
    state += x;
    try {
      if (depth > 0) dive(depth - 1);
      else leave();
    } finally {
      state = -1;
    }
  }

  static void leave() {
    System.out.println("ExitDeep " + state);
    System.exit(7);
  }

  public static void main(String[] args) {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> state++, "hook"));
    dive(6);
  }
}
