# SPDX-License-Identifier: Apache-2.0
"""Reads the two listings. The formats are cousins, so one reader does both and the differences are in two small classes;
neither shares a line with the printer it reads, which is the point."""

import re
import struct

from facts import Class, Code, Member

INSTRUCTION = re.compile(r"^ +(\d+): ([a-z_0-9]+)(?: +(.*))?$")
CASE = re.compile(r"^ +(-?\d+|default): (\d+)$")
POOL = re.compile(r"^ *#(\d+) = (\w+) *(.*)$")
SIZES = re.compile(r"stack=(\d+), locals=(\d+)")  # javap's args_size counts parameters, the JVM's slots
FLAGS = re.compile(r"flags: \(?0x([0-9a-f]{4})\)?")
ROW = re.compile(r"^ +(\d+) +(\d+) +(\d+) +(\S.*)$")
ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|x[0-9a-f]{2}|.)")
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def unescape(text):
    """Both printers escape, each in its own way. Lone surrogates become "?", which is what javap's encoder makes of them."""

    def one(match):
        code = match[1]
        if code[0] in "ux" and len(code) > 1:
            value = int(code[1:], 16)
            return "?" if 0xD800 <= value < 0xE000 else chr(value)
        return LETTERS.get(code, code)

    return ESCAPE.sub(one, text)


def constant(tag, text):
    """The value of a constant: numbers as bits, references as indices, text as it is."""
    if tag == "Utf8":
        return unescape(text.rstrip(" "))  # javap trims its lines
    if tag in ("Float", "Double"):
        number = text[:-1].replace("Infinity", "inf")
        return struct.pack(">f" if tag == "Float" else ">d", float(number)).hex()
    if tag in ("Integer", "Long"):
        return int(text.rstrip("l"))
    return tuple(int(number) for number in re.findall(r"\d+", text.split("//")[0]))


def operands(mnemonic, text):
    text = text.split("//")[0].strip()
    if mnemonic == "newarray":
        return (text,)
    numbers = tuple(int(number) for number in re.findall(r"-?\d+", text))
    # javap prints the zero bytes of invokedynamic.
    return numbers[:1] if mnemonic == "invokedynamic" else numbers


class Listing:
    """Lines of one class with a cursor."""

    def __init__(self, lines):
        self.lines = lines
        self.at = 0
        self.cls = Class()

    def line(self):
        return self.lines[self.at] if self.at < len(self.lines) else None

    def rows(self, pattern):
        """Matches of the following lines, as long as they match."""
        while self.line() is not None and (match := pattern.match(self.line())):
            self.at += 1
            yield match

    def next_has_flags(self):
        return self.at + 1 < len(self.lines) and self.lines[self.at + 1].startswith("    flags: ")

    def read_pool(self):
        for match in self.rows(POOL):
            # The javap of JDK 25 calls both of them Unknown.
            tag = "Module or Package" if match[2] in ("Module", "Package", "Unknown") else match[2]
            self.cls.pool[int(match[1])] = (tag, constant(match[2], match[3]))

    def read_member(self):
        member = Member(self.lines[self.at].split("descriptor: ", 1)[1])
        self.cls.members.append(member)
        self.at += 1
        member.flags = int(FLAGS.search(self.line())[1], 16)
        self.at += 1
        return member

    def read_instructions(self, code):
        while self.line() is not None and (match := INSTRUCTION.match(self.line())):
            self.at += 1
            mnemonic, rest = match[2], match[3] or ""
            if mnemonic.endswith("switch"):
                found = tuple((case[1], int(case[2])) for case in self.rows(CASE))
                bounds = tuple(int(n) for n in re.findall(r"-?\d+", rest))
                assert self.line().strip() == "}", self.line()
                self.at += 1
            else:
                found, bounds = operands(mnemonic, rest), ()
            code.instructions.append((int(match[1]), mnemonic, bounds + found))

    def read_exceptions(self, code):
        self.at += 2  # and the column heads
        for match in self.rows(ROW):
            kind = match[4].strip().replace("Class ", "").replace("class ", "").strip('"')
            code.exceptions.append((int(match[1]), int(match[2]), int(match[3]), kind))

    def read_lines(self, code):
        self.at += 1
        for match in self.rows(re.compile(r"^ +line (\d+): (\d+)$")):
            code.lines.append((int(match[1]), int(match[2])))

    def read_variables(self, rows):
        self.at += 2
        for match in self.rows(ROW):
            name, descriptor = match[4].split()
            rows.append((int(match[1]), int(match[2]), int(match[3]), unescape(name), unescape(descriptor)))

    def read_code(self, code):
        match = SIZES.search(self.line())
        code.stack, code.locals = (int(number) for number in match.groups())
        self.at += 1
        self.read_instructions(code)
        while (line := self.line()) is not None and line.startswith("      "):
            word = line.strip()
            if word == "Exception table:":
                self.read_exceptions(code)
            elif word == "LineNumberTable:":
                self.read_lines(code)
            elif word == "LocalVariableTable:":
                self.read_variables(code.variables)
            elif word == "LocalVariableTypeTable:":
                self.read_variables(code.variable_types)
            elif word.startswith("StackMapTable:"):
                self.at += 1
                self.read_frames(code)
            else:
                self.at += 1  # an attribute that is not compared

    def read(self):
        while (line := self.line()) is not None:
            if line.startswith("Constant pool:"):
                self.at += 1
                self.read_pool()
            elif line.startswith("    descriptor: ") and self.next_has_flags():  # a record component has none
                member = self.read_member()
                if (self.line() or "").startswith("    Code:"):
                    member.code = Code()
                    self.at += self.CODE_SIZES_LINE
                    self.read_code(member.code)
            else:
                self.read_header(line)
                self.at += 1
        return self.cls


def types(text):
    """"int, class [I" from between the brackets; quotes are javap's way with names that are no Java identifiers."""
    inner = text[text.index("[") + 1 : text.rindex("]")].strip()
    words = (t.strip().replace('"', "") for t in inner.split(", ")) if inner else ()
    return tuple("this(uninit)" if word == "this" else word for word in words)


class SondeListing(Listing):
    CODE_SIZES_LINE = 0
    FRAME = re.compile(r"^ +(\d+): [a-z_0-9]+ \((\d+)\)$")

    @staticmethod
    def split(text):
        """Classes of a dump, by their "# path" lines."""
        for part in re.split(r"^# (?=/)", text, flags=re.MULTILINE)[1:]:
            path, *lines = part.split("\n")
            yield path, lines

    def read_header(self, line):
        cls = self.cls
        if line.startswith("  version: "):
            cls.version = tuple(int(n) for n in re.findall(r"\d+", line)[:2])
        elif line.startswith("  flags: "):
            cls.flags = int(FLAGS.search(line)[1], 16)
        elif line.startswith("  this_class: "):
            cls.this_class, cls.super_class = (int(n) for n in re.findall(r"#(\d+)", line))

    def read_frames(self, code):
        for match in self.rows(self.FRAME):
            lists = {"locals": (), "stack": ()}
            for row in self.rows(re.compile(r"^ +(locals|stack) = (\[.*\])$")):
                lists[row[1]] = types(row[2])
            code.frames.append((int(match[2]), int(match[1]), lists["locals"], lists["stack"]))


class JavapListing(Listing):
    CODE_SIZES_LINE = 1
    FRAME = re.compile(r"^ +frame_type = (\d+) /\* \w+ \*/$")

    @staticmethod
    def split(text):
        for part in re.split(r"^Classfile (?=/)", text, flags=re.MULTILINE)[1:]:
            path, *lines = part.split("\n")
            yield path, lines

    def read_header(self, line):
        cls = self.cls
        if match := re.match(r"^  (major|minor) version: (\d+)", line):
            major, minor = cls.version
            cls.version = (int(match[2]), minor) if match[1] == "major" else (major, int(match[2]))
        elif line.startswith("  flags: "):
            cls.flags = int(FLAGS.search(line)[1], 16)
        elif match := re.match(r"^  (this|super)_class: #(\d+)", line):
            setattr(cls, f"{match[1]}_class", int(match[2]))

    def read_frames(self, code):
        pc = -1
        for match in self.rows(self.FRAME):
            kind = int(match[1])
            delta = kind if kind < 64 else kind - 64
            lists = {"locals": (), "stack": ()}
            for row in self.rows(re.compile(r"^ +(locals|stack|offset_delta) = (.*)$")):
                if row[1] == "offset_delta":
                    delta = int(row[2])
                else:
                    lists[row[1]] = types(row[2])
            pc += delta + 1
            code.frames.append((kind, pc, lists["locals"], lists["stack"]))
