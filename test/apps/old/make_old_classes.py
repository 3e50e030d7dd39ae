#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_old_classes.py [--check]: assembles app/Old*.class, class files of versions 45.3 to 49 with subroutines.

No compiler of this century writes jsr and ret, but old jars have them. Each class has a main that prints a checksum. The
programs below are assembly: a label ends with ':', `catch FROM TO HANDLER TYPE` is a row of the exception table.
--check compares with the files that are kept beside this script and writes nothing.
"""

import argparse
import pathlib
import re
import struct
import sys

# fmt: off
PLAIN = {name: 0x00 + i for i, name in enumerate("""nop aconst_null iconst_m1 iconst_0 iconst_1 iconst_2 iconst_3
    iconst_4 iconst_5 lconst_0 lconst_1""".split())}
PLAIN |= {f"{t}load_{n}": 0x1A + 4 * k + n for k, t in enumerate("ilfda") for n in range(4)}
PLAIN |= {f"{t}store_{n}": 0x3B + 4 * k + n for k, t in enumerate("ilfda") for n in range(4)}
PLAIN |= dict(pop=0x57, dup=0x59, swap=0x5F, iadd=0x60, isub=0x64, imul=0x68, idiv=0x6C, irem=0x70, iand=0x7E, ixor=0x82,
              ireturn=0xAC, areturn=0xB0, **{"return": 0xB1}, athrow=0xBF, monitorenter=0xC2, monitorexit=0xC3, iaload=0x2E,
              iastore=0x4F, arraylength=0xBE)
LOCAL = dict(iload=0x15, aload=0x19, istore=0x36, astore=0x3A, ret=0xA9)
JUMP = {name: 0x99 + i for i, name in enumerate("""ifeq ifne iflt ifge ifgt ifle if_icmpeq if_icmpne if_icmplt if_icmpge
    if_icmpgt if_icmple if_acmpeq if_acmpne goto jsr""".split())} | dict(ifnull=0xC6, ifnonnull=0xC7)
FAR_JUMP = dict(goto_w=0xC8, jsr_w=0xC9)
MEMBER = dict(getstatic=(0xB2, 9), putstatic=(0xB3, 9), getfield=(0xB4, 9), putfield=(0xB5, 9), invokevirtual=(0xB6, 10),
              invokespecial=(0xB7, 10), invokestatic=(0xB8, 10))
CLASS = dict(new=0xBB, checkcast=0xC0, instanceof=0xC1)
# fmt: on
STATIC, INSTANCE, SYNCHRONIZED = 0x0009, 0x0001, 0x0020


class Pool:
    def __init__(self):
        self.entries, self.known = [], {}

    def add(self, tag, data):
        if (tag, data) not in self.known:
            self.entries.append(bytes([tag]) + data)
            self.known[tag, data] = len(self.entries)
        return self.known[tag, data]

    def utf8(self, text):
        return self.add(1, struct.pack(">H", len(text)) + text.encode())

    def class_ref(self, name):
        return self.add(7, struct.pack(">H", self.utf8(name)))

    def string(self, text):
        return self.add(8, struct.pack(">H", self.utf8(text)))

    def member(self, tag, text):
        owner, name, descriptor = re.fullmatch(r"(.+)\.([^.(:]+):?(.+)", text).groups()
        pair = self.add(12, struct.pack(">HH", self.utf8(name), self.utf8(descriptor)))
        return self.add(tag, struct.pack(">HH", self.class_ref(owner), pair))


def encode(pool, pc, labels, words):
    """The bytes of one instruction; labels may still be unknown (the length never depends on them)."""
    name, *operands = words
    target = labels.get(operands[0], pc) - pc if operands else 0
    if name == "wide":
        number = int(operands[1])
        if operands[0] == "iinc":
            return struct.pack(">BBHh", 0xC4, 0x84, number, int(operands[2]))
        return struct.pack(">BBH", 0xC4, LOCAL[operands[0]], number)
    if name in PLAIN:
        return bytes([PLAIN[name]])
    if name in LOCAL:
        return bytes([LOCAL[name], int(operands[0])])
    if name in JUMP:
        return struct.pack(">Bh", JUMP[name], target)
    if name in FAR_JUMP:
        return struct.pack(">Bi", FAR_JUMP[name], target)
    if name in MEMBER:
        opcode, tag = MEMBER[name]
        return struct.pack(">BH", opcode, pool.member(tag, operands[0]))
    if name in CLASS:
        return struct.pack(">BH", CLASS[name], pool.class_ref(operands[0]))
    if name == "bipush":
        return struct.pack(">Bb", 0x10, int(operands[0]))
    if name == "sipush":
        return struct.pack(">Bh", 0x11, int(operands[0]))
    if name == "iinc":
        return struct.pack(">BBb", 0x84, int(operands[0]), int(operands[1]))
    if name == "newarray_int":
        return bytes([0xBC, 10])
    if name == "ldc_string":
        return bytes([0x12, pool.string(operands[0])])
    if name == "ldc_class":
        return bytes([0x12, pool.class_ref(operands[0])])
    raise ValueError(f"unknown instruction {name}")


def assemble(pool, text):
    """(code, exception table) of a listing; two passes, the first to place the labels."""
    labels = {}
    for _ in range(2):
        code, table = b"", b""
        for line in text.split("\n"):
            for part in line.split("#")[0].split(" ; "):
                words = part.split()
                if not words:
                    continue
                if words[0].endswith(":"):
                    labels[words[0][:-1]] = len(code)
                elif words[0] == "catch":
                    kind = 0 if words[4] == "any" else pool.class_ref(words[4])
                    table += struct.pack(">HHHH", *(labels.get(label, 0) for label in words[1:4]), kind)
                else:
                    code += encode(pool, len(code), labels, words)
    return code, table


def class_file(name, version, fields, methods):
    pool = Pool()
    this, parent = pool.class_ref(name), pool.class_ref("java/lang/Object")
    field_bytes = b"".join(
        struct.pack(">HHHH", access, pool.utf8(field), pool.utf8(kind), 0) for access, field, kind in fields
    )
    method_bytes = b""
    for access, method, descriptor, stack, local_count, text in methods:
        code, table = assemble(pool, text)
        content = struct.pack(">HHI", stack, local_count, len(code)) + code
        content += struct.pack(">H", len(table) // 8) + table + struct.pack(">H", 0)
        method_bytes += struct.pack(">HHHH", access, pool.utf8(method), pool.utf8(descriptor), 1)
        method_bytes += struct.pack(">HI", pool.utf8("Code"), len(content)) + content
    major, minor = version
    return (
        struct.pack(">IHHH", 0xCAFEBABE, minor, major, len(pool.entries) + 1) + b"".join(pool.entries)
        + struct.pack(">HHHHH", 0x0021, this, parent, 0, len(fields)) + field_bytes
        + struct.pack(">H", len(methods)) + method_bytes + struct.pack(">H", 0)
    )


def main_method(this, body):
    """main with the checksum in local 1, printed after NAME."""
    return (STATIC, "main", "([Ljava/lang/String;)V", 6, 8, f"""
      iconst_0 ; istore_1
      {body}
      getstatic java/lang/System.out:Ljava/io/PrintStream;
      ldc_string {this}_ ; invokevirtual java/io/PrintStream.print(Ljava/lang/String;)V
      getstatic java/lang/System.out:Ljava/io/PrintStream;
      iload_1 ; invokevirtual java/io/PrintStream.println(I)V
      return""")


# try { return a / b; } finally { count++; } as javac 1.1 wrote it, and its caller that catches.
OLD_FINALLY = ("app/OldFinally", (45, 3), [(STATIC, "count", "I")], [
    (STATIC, "divide", "(II)I", 3, 5, """
      from: iload_0 ; iload_1 ; idiv ; istore_2 ; jsr fin ; iload_2 ; to: ireturn
      handler: astore_3 ; jsr fin ; aload_3 ; athrow
      fin: astore 4
      getstatic app/OldFinally.count:I ; iconst_1 ; iadd ; putstatic app/OldFinally.count:I
      ret 4
      catch from to handler any""".replace(": ", ": ; ")),
    main_method("OldFinally", """
      bipush -3 ; istore_2
      loop:
      try:
        iload_1 ; bipush 100 ; iload_2 ; invokestatic app/OldFinally.divide(II)I ; iadd ; istore_1
      end:
        goto next
      caught:
        pop ; iinc 1 77
      next:
      iinc 2 1 ; iload_2 ; iconst_4 ; if_icmplt loop
      iload_1 ; getstatic app/OldFinally.count:I ; sipush 1000 ; imul ; iadd ; istore_1
      catch try end caught java/lang/ArithmeticException"""),
])

# A subroutine that calls another from two places, one that is left by goto, a handler inside one. (HotSpot's verifier
# refuses a subroutine that is called at two depths.)
OLD_NESTED = ("app/OldNested", (46, 0), [], [
    (STATIC, "run", "(I)I", 4, 6, """
      iconst_0 ; istore_1
      jsr outer
      iload_0 ; ifeq skip ; jsr outer
      skip:
      jsr leaves
      iinc 1 50                       # only when `leaves` returns
      goto done
      outer:
        astore_2 ; iinc 1 1 ; jsr inner ; iload_0 ; iconst_2 ; irem ; ifeq outer_end ; jsr inner
      outer_end:
        ret 2
      inner:
        astore_3 ; iinc 1 10
      try:
        iload_1 ; iload_0 ; iconst_3 ; isub ; idiv ; istore 4
      end:
        goto inner_end
      caught:
        pop ; iinc 1 100                # the handler belongs to the subroutine
      inner_end:
        ret 3
      leaves:
        astore 5 ; iload_0 ; iconst_4 ; if_icmpge away ; ret 5
      away:
        iinc 1 5
      done:
      iload_0 ; bipush 6 ; if_icmpne fine
      new java/lang/IllegalStateException ; dup ; invokespecial java/lang/IllegalStateException.<init>()V ; athrow
      fine:
      iload_1 ; ireturn
      catch try end caught java/lang/ArithmeticException"""),
    main_method("OldNested", """
      iconst_0 ; istore_2
      loop:
      try:
        iload_1 ; iconst_3 ; imul ; iload_2 ; invokestatic app/OldNested.run(I)I ; iadd ; istore_1
      end:
        goto next
      caught:
        astore_3 ; iinc 1 7
      next:
      iinc 2 1 ; iload_2 ; bipush 8 ; if_icmplt loop
      catch try end caught java/lang/IllegalStateException"""),
])

# jsr_w, wide ret, wide iinc, goto_w, locals above 255.
OLD_WIDE = ("app/OldWide", (47, 0), [], [
    (STATIC, "run", "(I)I", 3, 310, """
      wide iload 0 ; wide istore 300
      loop:
      jsr_w body
      iinc 0 -1 ; iload_0 ; ifgt loop
      goto_w out
      body:
        wide astore 301 ; wide iinc 300 1000 ; wide iload 300 ; bipush 7 ; irem ; ifne odd
        wide iinc 300 -5
      odd:
        wide ret 301
      out:
      wide iload 300 ; ireturn"""),
    main_method("OldWide", """
      iconst_3 ; invokestatic app/OldWide.run(I)I ; istore_1
      iload_1 ; bipush 20 ; invokestatic app/OldWide.run(I)I ; iadd ; istore_1"""),
])

# synchronized with a subroutine that unlocks, a loop inside a subroutine, calls from it, a static initialiser.
OLD_LOCK = ("app/OldLock", (48, 0), [(STATIC, "lock", "Ljava/lang/Object;"), (STATIC, "log", "I")], [
    (STATIC, "<clinit>", "()V", 3, 1, """
      new java/lang/Object ; dup ; invokespecial java/lang/Object.<init>()V
      putstatic app/OldLock.lock:Ljava/lang/Object;
      iconst_0 ; istore_0
      loop:
      getstatic app/OldLock.log:I ; iload_0 ; iadd ; putstatic app/OldLock.log:I
      iinc 0 1 ; iload_0 ; iconst_5 ; if_icmplt loop
      return"""),
    (STATIC | SYNCHRONIZED, "note", "(I)I", 2, 1, """
      getstatic app/OldLock.log:I ; iload_0 ; iadd ; dup ; putstatic app/OldLock.log:I ; ireturn"""),
    (STATIC, "run", "([II)I", 4, 8, """
      getstatic app/OldLock.lock:Ljava/lang/Object; ; dup ; astore_2 ; monitorenter
      from:
      aload_0 ; iload_1 ; iaload ; istore_3 ; jsr fin ; iload_3 ; ireturn
      to:
      any:
      astore 4 ; jsr fin ; aload 4 ; athrow
      fin:
        astore 5 ; iconst_0 ; istore 6
      again:
        iload 6 ; invokestatic app/OldLock.note(I)I ; pop ; iinc 6 1 ; iload 6 ; iload_1 ; if_icmplt again
        aload_2 ; monitorexit ; ret 5
      catch from to any any"""),
    main_method("OldLock", """
      iconst_4 ; newarray_int ; astore_2
      aload_2 ; iconst_2 ; bipush 9 ; iastore
      iconst_m1 ; istore_3
      loop:
      try:
        iload_1 ; aload_2 ; iload_3 ; invokestatic app/OldLock.run([II)I ; iadd ; istore_1
      end:
        goto next
      caught:
        pop ; iinc 1 100
      next:
      iinc 3 1 ; iload_3 ; bipush 6 ; if_icmplt loop
      iload_1 ; getstatic app/OldLock.log:I ; iadd ; istore_1
      catch try end caught java/lang/ArrayIndexOutOfBoundsException"""),
])

# The last version without stack maps: ldc of a class, instances, fields; a subroutine in a constructor after super().
OLD_OBJECT = ("app/OldObject", (49, 0), [(INSTANCE, "value", "I")], [
    (INSTANCE, "<init>", "(I)V", 3, 4, """
      aload_0 ; invokespecial java/lang/Object.<init>()V
      jsr init
      iload_1 ; ifge fine
      new java/lang/IllegalArgumentException ; dup
      invokespecial java/lang/IllegalArgumentException.<init>()V ; athrow
      fine:
      return
      init:
        astore_2 ; aload_0 ; iload_1 ; putfield app/OldObject.value:I ; ret 2"""),
    (INSTANCE, "get", "()I", 3, 2, """
      aload_0 ; getfield app/OldObject.value:I ; ldc_class app/OldObject
      invokevirtual java/lang/Class.getName()Ljava/lang/String; ; invokevirtual java/lang/String.length()I ; iadd
      ireturn"""),
    main_method("OldObject", """
      bipush -2 ; istore_2
      loop:
      try:
        iload_1 ; iconst_3 ; imul
        new app/OldObject ; dup ; iload_2 ; invokespecial app/OldObject.<init>(I)V
        invokevirtual app/OldObject.get()I ; iadd ; istore_1
      end:
        goto next
      caught:
        pop ; iinc 1 11
      next:
      iinc 2 1 ; iload_2 ; iconst_4 ; if_icmplt loop
      catch try end caught java/lang/RuntimeException"""),
])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    here = pathlib.Path(__file__).resolve().parent
    differing = []
    for name, version, fields, methods in (OLD_FINALLY, OLD_NESTED, OLD_WIDE, OLD_LOCK, OLD_OBJECT):
        path = here / f"{name}.class"
        data = class_file(name, version, fields, methods)
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        elif not path.exists() or path.read_bytes() != data:
            differing.append(str(path))
    if differing:
        sys.exit(f"not what this script writes: {' '.join(differing)}")


if __name__ == "__main__":
    main()
