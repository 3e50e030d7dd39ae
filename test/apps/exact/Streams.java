// SPDX-License-Identifier: Apache-2.0
package app;

import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Sequential streams with application lambdas: lazy, short-circuit, sorted, grouped, flat, throwing in the middle. */
public class Streams {
  static int seen;

  static boolean odd(int n) {
    seen++;
    return n % 2 != 0;
  }

  static String name(int n) { return "n" + n % 4; }

  public static void main(String[] args) {
    List<Integer> numbers = Arrays.asList(5, 3, 8, 1, 9, 2, 7);
    long sum = numbers.stream().filter(Streams::odd).mapToInt(n -> n * n).sum();
    sum += numbers.stream().sorted((a, b) -> b - a).limit(3).reduce(0, (a, b) -> a * 10 + b);
    sum += numbers.stream().anyMatch(n -> n == 8) ? 1 : 2;
    sum += IntStream.range(0, 20).filter(Streams::odd).boxed().map(Streams::name).distinct().count();
    TreeMap<String, Integer> groups =
        numbers.stream().collect(Collectors.groupingBy(Streams::name, TreeMap::new, Collectors.summingInt(n -> n)));
    sum += groups.toString().hashCode();
    Stream<Integer> powers = Stream.iterate(1, n -> n * 2).takeWhile(n -> n < 100);
    sum += powers.flatMap(n -> Stream.of(n, -n)).filter(n -> n > 0).count();
    try {
      sum += numbers.stream().peek(n -> seen++).map(n -> 10 / (n - 1)).collect(Collectors.toList()).size();
    } catch (ArithmeticException e) {
      sum += 100000;
    }
    System.out.println("Streams " + sum + " " + seen);
  }
}
