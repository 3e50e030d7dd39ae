// SPDX-License-Identifier: Apache-2.0
// The program that `./dev demo` profiles: a small shop that answers orders from a list of articles. Most of its work is
// done where nobody would look first, and the report shows it at once: articles are found by a linear search, whose
// comparison takes the article's name apart each time.
package demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;

public final class Inventory {
  record Article(String name, int price) {}

  private final List<Article> articles = new ArrayList<>();

  void add(String name, int price) {
    articles.add(new Article(name, price));
  }

  Article find(String name) {
    for (Article article : articles) {
      if (sameName(article.name(), name)) return article;
    }
    throw new IllegalArgumentException(name);
  }

  static boolean sameName(String a, String b) {
    return a.trim().toLowerCase(Locale.ROOT).equals(b.trim().toLowerCase(Locale.ROOT));
  }

  long total(List<String> order) {
    long sum = 0;
    for (String name : order) {
      try {
        sum += find(name).price();
      } catch (IllegalArgumentException unknown) {
        sum -= 1;
      }
    }
    return sum;
  }

  public static void main(String[] args) {
    Inventory inventory = new Inventory();
    for (int i = 0; i < 200; i++) inventory.add("Article " + i, i * 3 + 1);
    Random random = new Random(42);
    long sum = 0;
    for (int order = 0; order < 100; order++) {
      List<String> names = new ArrayList<>();
      for (int i = 0; i < 10; i++) names.add("article " + random.nextInt(210));
      sum += inventory.total(names);
    }
    System.out.println("total of all orders: " + sum);
  }
}
