// SPDX-License-Identifier: Apache-2.0
package app;

/** Long methods with so many instructions that may throw that no landing pads are made for them; each of them throws. */
public class ThrowLong {
  static final int[] TABLE = new int[48];

  static {
    TABLE[0] = step(0);
    TABLE[1] = step(1);
    TABLE[2] = step(2);
    TABLE[3] = step(3);
    TABLE[4] = step(4);
    TABLE[5] = step(5);
    TABLE[6] = step(6);
    TABLE[7] = step(7);
    TABLE[8] = step(8);
    TABLE[9] = step(9);
    TABLE[10] = step(10);
    TABLE[11] = step(11);
    TABLE[12] = step(12);
    TABLE[13] = step(13);
    TABLE[14] = step(14);
    TABLE[15] = step(15);
    TABLE[16] = step(16);
    TABLE[17] = step(17);
    TABLE[18] = step(18);
    TABLE[19] = step(19);
    TABLE[20] = step(20);
    TABLE[21] = step(21);
    TABLE[22] = step(22);
    TABLE[23] = step(23);
    TABLE[24] = step(24);
    TABLE[25] = step(25);
    TABLE[26] = step(26);
    TABLE[27] = step(27);
    TABLE[28] = step(28);
    TABLE[29] = step(29);
    TABLE[30] = step(30);
    TABLE[31] = step(31);
    TABLE[32] = step(32);
    TABLE[33] = step(33);
    TABLE[34] = step(34);
    TABLE[35] = step(35);
    TABLE[36] = step(36);
    TABLE[37] = step(37);
    TABLE[38] = step(38);
    TABLE[39] = step(39);
    TABLE[40] = step(40);
    TABLE[41] = step(41);
    TABLE[42] = step(42);
    TABLE[43] = step(43);
    TABLE[44] = step(44);
    TABLE[45] = step(45);
    TABLE[46] = step(46);
    TABLE[47] = step(47);
  }

  static int step(int i) {
    return i ^ 1;
  }

  static int divide(int at) {
    int sum = 0;
    sum += 1 / (at - 0) + step(0);
    sum += 2 / (at - 1) + step(1);
    sum += 3 / (at - 2) + step(2);
    sum += 4 / (at - 3) + step(3);
    sum += 5 / (at - 4) + step(4);
    sum += 6 / (at - 5) + step(5);
    sum += 7 / (at - 6) + step(6);
    sum += 8 / (at - 7) + step(7);
    sum += 9 / (at - 8) + step(8);
    sum += 10 / (at - 9) + step(9);
    sum += 11 / (at - 10) + step(10);
    sum += 12 / (at - 11) + step(11);
    sum += 13 / (at - 12) + step(12);
    sum += 14 / (at - 13) + step(13);
    sum += 15 / (at - 14) + step(14);
    sum += 16 / (at - 15) + step(15);
    sum += 17 / (at - 16) + step(16);
    sum += 18 / (at - 17) + step(17);
    sum += 19 / (at - 18) + step(18);
    sum += 20 / (at - 19) + step(19);
    sum += 21 / (at - 20) + step(20);
    sum += 22 / (at - 21) + step(21);
    sum += 23 / (at - 22) + step(22);
    sum += 24 / (at - 23) + step(23);
    return sum;
  }

  static String caught(int at) {
    StringBuilder[] values = {new StringBuilder(), new StringBuilder(), new StringBuilder(), new StringBuilder()};
    int tries = 0;
    try {
      tries++;
      values[0] = at == 3 ? null : values[1].append(0);
      values[1] = at == 8 ? null : values[2].append(1);
      values[2] = at == 13 ? null : values[3].append(2);
      values[3] = at == 18 ? null : values[0].append(3);
      values[0] = at == 23 ? null : values[1].append(4);
      values[1] = at == 28 ? null : values[2].append(5);
      values[2] = at == 3 ? null : values[3].append(6);
      values[3] = at == 8 ? null : values[0].append(7);
      values[0] = at == 13 ? null : values[1].append(8);
      values[1] = at == 18 ? null : values[2].append(9);
      values[2] = at == 23 ? null : values[3].append(10);
      values[3] = at == 28 ? null : values[0].append(11);
      values[0] = at == 3 ? null : values[1].append(12);
      values[1] = at == 8 ? null : values[2].append(13);
      values[2] = at == 13 ? null : values[3].append(14);
      values[3] = at == 18 ? null : values[0].append(15);
      values[0] = at == 23 ? null : values[1].append(16);
      values[1] = at == 28 ? null : values[2].append(17);
      values[2] = at == 3 ? null : values[3].append(18);
      values[3] = at == 8 ? null : values[0].append(19);
      values[0] = at == 13 ? null : values[1].append(20);
      values[1] = at == 18 ? null : values[2].append(21);
      values[2] = at == 23 ? null : values[3].append(22);
      values[3] = at == 28 ? null : values[0].append(23);
      tries += 2;
    } catch (NullPointerException e) {
      tries += 10;
    } finally {
      tries += divideOr(at, 100);
    }
    return tries + ":" + values.length;
  }

  static int divideOr(int at, int otherwise) {
    try {
      return divide(at);
    } catch (ArithmeticException e) {
      return otherwise;
    }
  }

  static class Parent {
    final int first;

    Parent(int first) {
      this.first = first;
    }
  }

  static class Child extends Parent {
    int total;

    Child(int at) {
      super(at > 20 ? TABLE[at] : 3 / (at - 11));
    total += 7 / (at - 0) + step(0);
    total += 7 / (at - 1) + step(1);
    total += 7 / (at - 2) + step(2);
    total += 7 / (at - 3) + step(3);
    total += 7 / (at - 4) + step(4);
    total += 7 / (at - 5) + step(5);
    total += 7 / (at - 6) + step(6);
    total += 7 / (at - 7) + step(7);
    total += 7 / (at - 8) + step(8);
    total += 7 / (at - 9) + step(9);
    total += 7 / (at - 10) + step(10);
    total += 7 / (at - 11) + step(11);
    total += 7 / (at - 12) + step(12);
    total += 7 / (at - 13) + step(13);
    total += 7 / (at - 14) + step(14);
    total += 7 / (at - 15) + step(15);
    total += 7 / (at - 16) + step(16);
    total += 7 / (at - 17) + step(17);
    total += 7 / (at - 18) + step(18);
    total += 7 / (at - 19) + step(19);
    total += 7 / (at - 20) + step(20);
    total += 7 / (at - 21) + step(21);
    total += 7 / (at - 22) + step(22);
    total += 7 / (at - 23) + step(23);
    }
  }

  static int construct(int at) {
    try {
      return new Child(at).total;
    } catch (ArithmeticException | ArrayIndexOutOfBoundsException e) {
      return -at;
    }
  }

  public static void main(String[] args) {
    long sum = 0;
    for (int round = 0; round < 200; round++) {
      for (int at = 0; at < 50; at++) {
        sum = sum * 31 + divideOr(at, at) + construct(at);
        sum += caught(at % 32).hashCode();
      }
    }
    System.out.println(sum);
  }
}
