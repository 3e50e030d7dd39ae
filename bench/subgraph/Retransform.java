// SPDX-License-Identifier: Apache-2.0

import java.lang.instrument.Instrumentation;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.stream.Stream;

/**
 * A Java agent that is loaded into a JVM that runs. "change,CLASS,TIMES,MS": has a class retransformed again and again,
 * with the bytes it has, so that the JVM's own log shows what that takes. "load,COUNT": loads classes of java.base until
 * there are so many.
 */
public final class Retransform {
  private Retransform() {}

  public static void agentmain(String text, Instrumentation jvm) throws Exception {
    final String[] words = text.split(",");
    if (words[0].equals("load")) {
      load(Integer.parseInt(words[1]), jvm);
      return;
    }
    final Thread thread = new Thread(() -> change(words[1], Integer.parseInt(words[2]), Integer.parseInt(words[3]), jvm));
    thread.setDaemon(true);
    thread.start();
  }

  private static void change(String name, int times, int pause, Instrumentation jvm) {
    try {
      for (Class<?> cls : jvm.getAllLoadedClasses()) {
        for (int i = 0; cls.getName().equals(name) && i < times; i++) {
          jvm.retransformClasses(cls);
          Thread.sleep(pause);
        }
      }
    } catch (Exception e) {
      e.printStackTrace();
    }
  }

  private static long loaded(Instrumentation jvm) {
    return Arrays.stream(jvm.getAllLoadedClasses()).filter(cls -> !cls.isArray()).count();
  }

  private static void load(int count, Instrumentation jvm) throws Exception {
    final Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules/java.base");
    try (Stream<Path> files = Files.walk(modules)) {
      for (Iterator<Path> each = files.iterator(); each.hasNext() && loaded(jvm) < count; ) {
        final String file = modules.relativize(each.next()).toString();
        if (!file.endsWith(".class") || file.startsWith("module-info")) continue;
        try {
          // Asking for its methods has it linked.
          Class.forName(file.substring(0, file.length() - 6).replace('/', '.'), false, null).getDeclaredMethods();
        } catch (LinkageError e) {
          continue;
        }
      }
    }
  }
}
