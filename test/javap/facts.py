# SPDX-License-Identifier: Apache-2.0
"""What a listing says about a class, free of how it says it. Both readers fill these; compare() finds differences."""

from dataclasses import dataclass, field, fields, is_dataclass


@dataclass
class Code:
    stack: int = 0
    locals: int = 0
    instructions: list = field(default_factory=list)  # (pc, mnemonic, operands)
    exceptions: list = field(default_factory=list)  # (from, to, target, type)
    lines: list = field(default_factory=list)  # (line, pc)
    variables: list = field(default_factory=list)  # (start, length, slot, name, descriptor)
    variable_types: list = field(default_factory=list)
    frames: list = field(default_factory=list)  # (frame_type, pc, locals, stack)


@dataclass
class Member:
    descriptor: str
    flags: int = -1
    code: Code = None


@dataclass
class Class:
    version: tuple = (0, 0)  # major, minor
    flags: int = -1
    this_class: int = -1
    super_class: int = -1
    pool: dict = field(default_factory=dict)  # index -> (tag, value)
    members: list = field(default_factory=list)  # fields, then methods, in file order


def differences(ours, theirs, path):
    """Yields "path: ours ... theirs ..." for every place where two facts differ."""
    if is_dataclass(ours) and type(ours) is type(theirs):
        for f in fields(ours):
            yield from differences(getattr(ours, f.name), getattr(theirs, f.name), f"{path}.{f.name}")
    elif isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            yield from differences(ours.get(key), theirs.get(key), f"{path}[{key}]")
    elif isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            yield f"{path}: sonde has {len(ours)} rows, javap {len(theirs)}"
        for i, (a, b) in enumerate(zip(ours, theirs)):
            yield from differences(a, b, f"{path}[{i}]")
    elif ours != theirs:
        yield f"{path}: sonde {ours!r}, javap {theirs!r}"


@dataclass
class Totals:
    classes: int = 0
    methods: int = 0
    instructions: int = 0
    frames: int = 0
    rows: int = 0  # of exception, line and variable tables
    constants: int = 0
    opcodes: set = field(default_factory=set)

    def add(self, cls):
        self.classes += 1
        self.constants += len(cls.pool)
        for member in cls.members:
            self.methods += member.descriptor.startswith("(")
            code = member.code
            if code is None:
                continue
            self.instructions += len(code.instructions)
            self.frames += len(code.frames)
            self.rows += len(code.exceptions) + len(code.lines) + len(code.variables) + len(code.variable_types)
            self.opcodes.update(mnemonic for _, mnemonic, _ in code.instructions)

    def __str__(self):
        return (
            f"{self.classes:,} classes, {self.methods:,} methods, {self.instructions:,} instructions "
            f"({len(self.opcodes)} opcodes), {self.frames:,} frames, {self.rows:,} table rows, {self.constants:,} constants"
        )
