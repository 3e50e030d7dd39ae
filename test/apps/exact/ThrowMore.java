// SPDX-License-Identifier: Apache-2.0
package app;

/** NegativeArraySize of newarray, anewarray and multianewarray; ClassCast; ArrayStore; explicit throw of each kind. */
public class ThrowMore {
  static class Checked extends Exception {
    final int code;

    Checked(int code) {
      super("code " + code);
      this.code = code;
    }
  }

  static Object make(int kind, int n) throws Checked {
    Object[] strings = new String[1];
    Object text = "text";
    switch (kind) {
      case 0: return new int[n];
      case 1: return new long[n];
      case 2: return new boolean[n];
      case 3: return new Object[n];
      case 4: return new String[n][];
      case 5: return new int[2][n];
      case 6: return new Object[n][2][2];
      case 7: return (Integer) text;
      case 8: return (int[]) text;
      case 9: strings[0] = Integer.valueOf(n); return strings;
      case 10: throw new Checked(n);
      case 11: throw new IllegalStateException("no " + n);
      case 12: throw new Error();
      default: strings[0] = "ok"; return strings;
    }
  }

  static int attempt(int kind) {
    try {
      return make(kind, -1) == null ? 0 : 1;
    } catch (NegativeArraySizeException e) {
      return 2;
    } catch (ClassCastException | ArrayStoreException e) {
      return 3;
    } catch (Checked e) {
      return e.code + 5;
    } catch (RuntimeException e) {
      return 6;
    } catch (Error e) {
      return 7;
    }
  }

  public static void main(String[] args) throws Checked {
    int sum = 0;
    for (int kind = 0; kind < 14; kind++) sum = sum * 11 + attempt(kind);
    for (int kind = 0; kind < 7; kind++) sum += make(kind, 3).getClass().getName().length();
    System.out.println("ThrowMore " + sum);
  }
}
