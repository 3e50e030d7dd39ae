// SPDX-License-Identifier: Apache-2.0
package app;

import java.nio.file.Path;

/** Starts a second JVM that runs this class with an argument, which calls `work` so many times. */
public class StartsJvm {
  static int calls;

  static void work() {
    calls++;
  }

  public static void main(String[] args) throws Exception {
    if (args.length > 0) {
      for (int i = 0; i < Integer.parseInt(args[0]); i++) work();
      System.out.println("StartsJvm child " + calls);
      return;
    }
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String classPath = System.getProperty("java.class.path");
    Process child =
        new ProcessBuilder(java, "-cp", classPath, "app.StartsJvm", "1000")
            .redirectOutput(ProcessBuilder.Redirect.INHERIT)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    System.out.println("StartsJvm " + child.waitFor());
  }
}
