// SPDX-License-Identifier: Apache-2.0
package app;

/** Multi-dimensional arrays: rectangular, ragged, partially allocated, initialisers, matrix product. */
public class MultiArray {
  static long[][] multiply(long[][] a, long[][] b) {
    long[][] c = new long[a.length][b[0].length];
    for (int i = 0; i < a.length; i++) {
      for (int j = 0; j < b[0].length; j++) {
        for (int k = 0; k < b.length; k++) c[i][j] += a[i][k] * b[k][j];
      }
    }
    return c;
  }

  public static void main(String[] args) {
    long[][] a = {{1, 2, 3}, {4, 5, 6}};
    long[][] b = {{7, 8}, {9, 10}, {11, 12}};
    long sum = multiply(a, b)[1][1];
    char[][][] cube = new char[3][4][];
    for (char[][] plane : cube) {
      for (int i = 0; i < plane.length; i++) plane[i] = new char[i];
    }
    for (char[][] plane : cube) for (char[] row : plane) sum += row.length;
    Object[][] objects = new Object[2][3];
    try {
      objects[1] = new String[2];
      objects[1][0] = 5;
    } catch (ArrayStoreException e) {
      sum += 1000;
    }
    try {
      int[][][] empty = new int[2][][];
      sum += empty[1][0].length;
    } catch (NullPointerException e) {
      sum += 100;
    }
    int[] copy = new int[] {1, 2, 3}.clone();
    System.arraycopy(copy, 0, copy, 1, 2);
    System.out.println("MultiArray " + (sum * 10 + copy[2]));
  }
}
