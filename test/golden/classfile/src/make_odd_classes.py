#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes Old.class and Odd.class: what no compiler of this century writes, but old jars and obfuscators do.

Old is of version 48 and has a subroutine (jsr, jsr_w, ret), wide instructions and goto_w. Odd has a method whose name
only a class file may have, which is legal from version 49 on. HotSpot loads and verifies both.
"""

import pathlib
import struct


class Pool:
    def __init__(self):
        self.entries, self.known = [], {}

    def add(self, entry):
        if entry not in self.known:
            self.entries.append(entry)
            self.known[entry] = len(self.entries)
        return self.known[entry]

    def utf8(self, data):
        data = data if isinstance(data, bytes) else data.encode()
        return self.add(b"\x01" + struct.pack(">H", len(data)) + data)

    def cls(self, name):
        return self.add(b"\x07" + struct.pack(">H", self.utf8(name)))


def method(pool, name, descriptor, stack, max_locals, code):
    content = struct.pack(">HHI", stack, max_locals, len(code)) + code + struct.pack(">HH", 0, 0)
    header = struct.pack(">HHHHHI", 0x0009, pool.utf8(name), pool.utf8(descriptor), 1, pool.utf8("Code"), len(content))
    return header + content


# static int subroutine(int), which calls its subroutine twice:
#   0 nop   1 jsr 11   4 jsr_w 11   9 iload_0   10 ireturn
#   11 wide astore 299   15 wide iinc 0 1000   21 goto_w 26   26 wide ret 299
SUBROUTINE = bytes.fromhex("00 a8000a c900000007 1a ac c43a012b c484000003e8 c800000005 c4a9012b")
RETURN = bytes.fromhex("b1")


def write_class(name, version, make_methods):
    pool = Pool()
    this, parent = pool.cls(name), pool.cls("java/lang/Object")
    methods = make_methods(pool)
    body = struct.pack(">HHHHHH", 0x0021, this, parent, 0, 0, len(methods)) + b"".join(methods) + struct.pack(">H", 0)
    pool_bytes = struct.pack(">H", len(pool.entries) + 1) + b"".join(pool.entries)
    path = pathlib.Path(__file__).resolve().parent.parent / f"{name}.class"
    path.write_bytes(struct.pack(">IHH", 0xCAFEBABE, 0, version) + pool_bytes + body)


def main():
    write_class("Old", 48, lambda pool: [method(pool, "subroutine", "(I)I", 1, 300, SUBROUTINE)])
    # a space, a line feed, U+0000, a lone surrogate, and a smile as two surrogates
    odd_name = b"odd name\n\xc0\x80\xed\xa0\xbd|\xed\xa0\xbd\xed\xb8\x80"
    write_class("Odd", 61, lambda pool: [method(pool, odd_name, "()V", 0, 0, RETURN)])


if __name__ == "__main__":
    main()
