// SPDX-License-Identifier: Apache-2.0
package app;

import java.io.IOException;
import java.io.InputStream;

/** An application class loader, called by the JVM while it resolves; the same class twice, from two loaders. */
public class UserLoader extends ClassLoader {
  static int asked;
  final String prefix;

  UserLoader(String prefix) {
    super(UserLoader.class.getClassLoader());
    this.prefix = prefix;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(prefix)) return super.loadClass(name, resolve);
    asked++;
    if (name.endsWith("Missing")) throw new ClassNotFoundException(name);
    Class<?> loaded = findLoadedClass(name);
    return loaded != null ? loaded : define(name);
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
      byte[] bytes = in.readAllBytes();
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  public static class LoadedMain implements Runnable {
    static int runs;

    @Override public void run() {
      runs += new LoadedHelper().help(3);
      try {
        new LoadedMissing();
      } catch (NoClassDefFoundError e) {
        runs += 100;
      }
      System.setProperty("app.runs", "" + (Integer.getInteger("app.runs", 0) + runs));
    }
  }

  static class LoadedHelper extends LoadedBase {
    int help(int n) { return n * base(); }
  }

  static class LoadedBase {
    static int value = 5;

    int base() { return value++; }
  }

  static class LoadedMissing {}

  public static void main(String[] args) throws Exception {
    for (int i = 0; i < 2; i++) {
      UserLoader loader = new UserLoader("app.UserLoader$Loaded");
      Runnable main = (Runnable) loader.loadClass("app.UserLoader$LoadedMain").getConstructor().newInstance();
      main.run();
      main.run();
    }
    System.out.println("UserLoader " + asked + " " + System.getProperty("app.runs"));
  }
}
