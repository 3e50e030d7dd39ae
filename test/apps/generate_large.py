#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generate_large.py FOLDER: writes the Java sources that are too long to keep: far jumps, a huge method, wide locals.

  FarBranch   a method of more than 32 KiB whose loop and if need goto_w (javac inverts the test and jumps around it)
  HugeMethod  close to the limit of 64 KiB: what an instrumenter adds may not fit
  WideLocals  more than 255 local variables: wide loads, stores and iinc
"""

import pathlib
import sys

HEAD = "// SPDX-License-Identifier: Apache-2.0\n// Written by generate_large.py.\npackage app;\n\n"
STATEMENT = "      x = x * 31 + {n} ^ x >>> 3;"  # 14 bytes of code


def filler(switches, statements):
    """Code that is long and quick to count: tables of 8 KB that are one instruction each, and plain statements."""
    labels = " ".join(f"case {n}:" for n in range(2000))
    lines = [f"      switch (x & 4095) {{ {labels} x += {n}; break; default: x -= {n}; }}" for n in range(switches)]
    for n in range(statements):
        lines.append(STATEMENT.format(n=1000 + n) + (" if (x % 5 == 0) x += i;" if n % 10 == 0 else ""))
    return "\n".join(lines)


def far_branch():
    body = filler(4, 300)
    return f"""public class FarBranch {{
  static int far(int n) {{
    int x = n;
    for (int i = 0; i < n; i++) {{
      if (x == 12345) continue;
      if (i % 2 == 0) {{
{body}
      }} else {{
        try {{
          x += 10 / (i - 1);
        }} catch (ArithmeticException e) {{
          x += 7;
        }}
      }}
    }}
    return x;
  }}

  public static void main(String[] args) {{
    System.out.println("FarBranch " + (far(0) + far(2) + far(4)));
  }}
}}
"""


def huge_method():
    body = filler(7, 480)
    return f"""public class HugeMethod {{
  static int huge(int i) {{
    int x = i;
{body}
    return x;
  }}

  static int small(int i) {{ return i / (i - 2); }}

  public static void main(String[] args) {{
    int sum = huge(1) + huge(2);
    try {{
      sum += small(2);
    }} catch (ArithmeticException e) {{
      sum++;
    }}
    System.out.println("HugeMethod " + sum);
  }}
}}
"""


def wide_locals():
    ints = "\n".join(f"    int i{n} = i{n - 1} + {n};" for n in range(1, 280))
    others = "\n".join(
        f"    long l{n} = l{n - 1} * 3; double d{n} = d{n - 1} + i{n}; String s{n} = s{n - 1}; float f{n} = f{n - 1};"
        for n in range(1, 20)
    )
    return f"""public class WideLocals {{
  static int wide(int i0) {{
{ints}
    long l0 = i5; double d0 = i6; String s0 = "s"; float f0 = 1;
{others}
    int count = 0;
    for (; count < 10; count++) {{
      i279 += 1000;
      i278 -= 3;
      try {{
        i277 += i279 / (count - 5);
      }} catch (ArithmeticException e) {{
        i277++;
      }}
    }}
    return i277 + i278 + i279 + (int) l19 + (int) d19 + s19.length() + (int) f19 + count;
  }}

  public static void main(String[] args) {{
    System.out.println("WideLocals " + (wide(1) + wide(2)));
  }}
}}
"""


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in (("FarBranch", far_branch()), ("HugeMethod", huge_method()), ("WideLocals", wide_locals())):
        (folder / f"{name}.java").write_text(HEAD + source)


if __name__ == "__main__":
    main()
