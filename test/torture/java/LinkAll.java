// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Loads and links, without initialising it, every class of the running JDK or of a class path, and says what the JVM
 * made of each. A class that cannot be linked is no finding by itself (optional dependencies are missing everywhere): a
 * finding is a class whose outcome differs from that of the same class before it was rewritten.
 *
 * <pre>
 * LinkAll --save FILE    WHAT    the outcomes of the original classes
 * LinkAll --compare FILE WHAT    the differences; exit code 1 if there are any
 * WHAT: jrt (the whole JDK), jrt:MODULE or a class path
 * </pre>
 *
 * Verification is the JVM's business: run with -XX:+BytecodeVerificationLocal, or classes of the JDK are not verified.
 * A class path entry is searched first for its own classes, so a class that two jars have is linked in both.
 */
public final class LinkAll {
  private static final String LINKED = "linked";

  /** By "entry class"; the value is LINKED or the name of the error, then its message. */
  private final Map<String, Outcome> outcomes = new LinkedHashMap<>();

  private record Outcome(String kind, String message) {}

  private interface Loader {
    Class<?> load(String name) throws ClassNotFoundException;
  }

  public static void main(String[] args) throws IOException {
    if (args.length != 3 || !(args[0].equals("--save") || args[0].equals("--compare"))) {
      System.err.println("usage: LinkAll --save|--compare FILE jrt|jrt:MODULE|CLASS-PATH");
      System.exit(2);
    }
    LinkAll all = new LinkAll();
    if (args[2].equals("jrt")) {
      all.linkRuntimeImage("");
    } else if (args[2].startsWith("jrt:")) {
      all.linkRuntimeImage(args[2].substring("jrt:".length()));
    } else {
      all.linkClassPath(args[2].split(File.pathSeparator));
    }
    Path file = Path.of(args[1]);
    all.printTotals(System.out);
    if (args[0].equals("--save")) {
      all.save(file);
    } else {
      System.exit(all.compare(file, System.out) == 0 ? 0 : 1);
    }
  }

  /** One module, or all for "". */
  private void linkRuntimeImage(String only) throws IOException {
    Path root = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
    List<Path> modules;
    try (Stream<Path> list = Files.list(root)) {
      modules = list.filter(path -> only.isEmpty() || path.endsWith(only)).sorted().toList();
    }
    for (Path path : modules) {
      String name = path.getFileName().toString();
      Module module = ModuleLayer.boot().findModule(name).orElse(null);
      if (module == null) {
        System.out.println("module " + name + " is not in the boot layer: not linked");
        continue;
      }
      for (String className : classesBelow(path)) {
        link(name, className, wanted -> Class.forName(module, wanted));
      }
    }
  }

  private void linkClassPath(String[] entries) throws IOException {
    for (String entry : entries) {
      Path path = Path.of(entry);
      List<URL> urls = new ArrayList<>(List.of(url(path)));
      for (String other : entries) {
        urls.add(url(Path.of(other)));
      }
      try (URLClassLoader loader =
          new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
        for (String className : classesOf(path)) {
          link(path.getFileName().toString(), className, wanted -> Class.forName(wanted, false, loader));
        }
      }
    }
  }

  private static URL url(Path path) throws MalformedURLException {
    return path.toUri().toURL();
  }

  private static List<String> classesOf(Path entry) throws IOException {
    if (Files.isDirectory(entry)) {
      return classesBelow(entry);
    }
    try (FileSystem jar = FileSystems.newFileSystem(entry)) {
      return classesBelow(jar.getPath("/"));
    }
  }

  /** Versions of a multi-release jar are left to its loader, which picks one for each class. */
  private static List<String> classesBelow(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .map(file -> root.relativize(file).toString())
          .filter(name -> name.endsWith(".class") && !name.endsWith("module-info.class"))
          .filter(name -> !name.startsWith("META-INF/"))
          .map(name -> name.substring(0, name.length() - ".class".length()).replace('/', '.'))
          .sorted()
          .toList();
    }
  }

  private void link(String entry, String name, Loader loader) {
    String kind = LINKED;
    String message = "";
    try {
      Class<?> loaded = loader.load(name);
      if (loaded == null) {
        kind = "not found";
      } else {
        // Both link the class before they look at it; each then resolves the types of what it returns.
        loaded.getDeclaredMethods();
        loaded.getDeclaredConstructors();
      }
    } catch (Throwable error) { // Whatever it is, it is the outcome.
      kind = error.getClass().getName();
      message = String.valueOf(error.getMessage());
    }
    outcomes.put(entry + " " + name, new Outcome(kind, message));
  }

  private void printTotals(PrintStream out) {
    Map<String, Integer> totals = new TreeMap<>();
    outcomes.values().forEach(outcome -> totals.merge(outcome.kind, 1, Integer::sum));
    out.println(outcomes.size() + " classes: " + totals);
  }

  private void save(Path file) throws IOException {
    Files.write(file, outcomes.entrySet().stream().map(e -> e.getKey() + "\t" + e.getValue().kind).toList());
  }

  /** Messages are not compared: they name locations, which move. */
  private int compare(Path file, PrintStream out) throws IOException {
    Map<String, String> before = new LinkedHashMap<>();
    for (String line : Files.readAllLines(file)) {
      int tab = line.indexOf('\t');
      before.put(line.substring(0, tab), line.substring(tab + 1));
    }
    int differences = 0;
    for (Map.Entry<String, Outcome> entry : outcomes.entrySet()) {
      String was = before.remove(entry.getKey());
      Outcome is = entry.getValue();
      if (is.kind.equals(was)) {
        continue;
      }
      ++differences;
      out.println("DIFFERENCE " + entry.getKey() + ": " + (was == null ? "no such class" : was) + " -> " + is.kind);
      if (!is.message.isEmpty()) {
        out.println("  " + is.message.replace("\n", "\n  "));
      }
    }
    for (String missing : before.keySet()) {
      ++differences;
      out.println("DIFFERENCE " + missing + ": gone");
    }
    out.println(differences + " differences");
    return differences;
  }
}
