// SPDX-License-Identifier: Apache-2.0
package app;

/** ArrayIndexOutOfBoundsException at the load and at the store of every array type, below and above the bounds. */
public class ThrowIndex {
  static final boolean[] Z = new boolean[2];
  static final byte[] B = new byte[2];
  static final char[] C = new char[2];
  static final short[] S = new short[2];
  static final int[] I = new int[2];
  static final long[] J = new long[2];
  static final float[] F = new float[2];
  static final double[] D = new double[2];
  static final Object[] L = new Object[2];

  static long load(int type, int i) {
    switch (type) {
      case 0: return Z[i] ? 1 : 2;
      case 1: return B[i] + 1;
      case 2: return C[i] + 2;
      case 3: return S[i] + 3;
      case 4: return I[i] + 4;
      case 5: return J[i] + 5;
      case 6: return (long) F[i] + 6;
      case 7: return (long) D[i] + 7;
      default: return L[i] == null ? 8 : 9;
    }
  }

  static void store(int type, int i) {
    switch (type) {
      case 0: Z[i] = true; break;
      case 1: B[i] = 1; break;
      case 2: C[i] = 'c'; break;
      case 3: S[i] = 3; break;
      case 4: I[i] = 4; break;
      case 5: J[i] = 5L; break;
      case 6: F[i] = 6f; break;
      case 7: D[i] = 7d; break;
      default: L[i] = "eight"; break;
    }
  }

  static int compound(int[] array, int i) {
    int done = 0;
    try {
      done++;
      array[i] += 7;
      done++;
      array[i + 1]++;
      done++;
    } catch (ArrayIndexOutOfBoundsException e) {
      done += 10;
    } finally {
      done += 100;
    }
    return done;
  }

  public static void main(String[] args) {
    long sum = 0;
    int thrown = 0;
    for (int type = 0; type < 9; type++) {
      for (int i = -1; i < 4; i++) {
        try {
          sum += load(type, i);
          store(type, i);
          sum += load(type, i);
        } catch (ArrayIndexOutOfBoundsException e) {
          thrown++;
        }
        try {
          store(type, i);
        } catch (ArrayIndexOutOfBoundsException e) {
          thrown += 1000;
        }
      }
    }
    for (int i = -1; i < 4; i++) sum = sum * 7 + compound(I, i);
    System.out.println("ThrowIndex " + sum + " " + thrown);
  }
}
