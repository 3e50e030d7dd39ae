// SPDX-License-Identifier: Apache-2.0
package java.lang;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;

/** Loads a profiling agent of the user (java/api). Used after the JVM has booted, on the agent's thread. */
final class SondeAgents {
  private SondeAgents() {}

  /** A loader that has these jars and folders, and sees nothing of the program. */
  static ClassLoader loader(String[] paths) throws MalformedURLException {
    final URL[] urls = new URL[paths.length];
    for (int i = 0; i < paths.length; i++) urls[i] = new File(paths[i]).toURI().toURL();
    final ClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
    Thread.currentThread().setContextClassLoader(loader);
    return loader;
  }

  static Class<?> load(ClassLoader loader) throws ClassNotFoundException {
    return Class.forName("org.sonde.api.AgentThread", true, loader);
  }
}
