// SPDX-License-Identifier: Apache-2.0
package app;

import java.io.Serializable;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.IntFunction;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/** Lambdas with and without captures, nested, throwing, serialisable; all kinds of method reference. */
public class Lambdas {
  final int factor;

  Lambdas(int factor) {
    this.factor = factor;
  }

  int times(int n) { return n * factor; }

  static int negate(int n) { return -n; }

  static int sum(int... all) {
    int sum = 0;
    for (int n : all) sum += n;
    return sum;
  }

  IntUnaryOperator capturesThis(int plus) { return n -> times(n) + plus; }

  static IntUnaryOperator compose(IntUnaryOperator... all) {
    return n -> {
      int result = n;
      for (IntUnaryOperator f : all) result = f.applyAsInt(result);
      return result;
    };
  }

  interface Throwing { int get() throws Exception; }

  static int guard(Throwing body) {
    try {
      return body.get();
    } catch (Exception e) {
      return e.getMessage().length();
    }
  }

  public static void main(String[] args) {
    IntUnaryOperator staticRef = Lambdas::negate;
    Lambdas three = new Lambdas(3);
    IntUnaryOperator boundRef = three::times;
    BiFunction<Lambdas, Integer, Integer> unboundRef = Lambdas::times;
    IntFunction<Lambdas> constructorRef = Lambdas::new;
    IntFunction<int[]> arrayRef = int[]::new;
    IntBinaryOperator varargsRef = Lambdas::sum;
    Supplier<Supplier<String>> nested = () -> () -> "inner " + three.factor;
    ToIntFunction<String> serializable = (ToIntFunction<String> & Serializable) s -> s.length() + three.factor;
    Function<Integer, Function<Integer, Integer>> curried = a -> b -> a * b;

    int sum = compose(staticRef, boundRef, three.capturesThis(4), n -> n + 1).applyAsInt(5);
    for (int i = 0; i < 4; i++) {
      final int n = i;
      sum += unboundRef.apply(constructorRef.apply(i), i) + arrayRef.apply(i).length + varargsRef.applyAsInt(i, i);
      sum += nested.get().get().length() + serializable.applyAsInt("four") + curried.apply(i).apply(3);
      sum += guard(() -> {
        if (n == 2) throw new Exception("two");
        return 10 / (n - 1 == 0 ? 5 : 2);
      });
    }
    try {
      Supplier<Integer> onNull = ((String) null)::length;
      sum += onNull.get();
    } catch (NullPointerException e) {
      sum += 1000;
    }
    System.out.println("Lambdas " + sum);
  }
}
