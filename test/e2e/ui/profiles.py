# SPDX-License-Identifier: Apache-2.0
"""profiles.py FOLDER: profiles to show. small.pb and after.pb (pprof: calls and bytecodes), large.txt (collapsed)."""

import pathlib
import random
import sys

# thread: (path, calls, self bytecodes)
SMALL = {
    "main": [
        ("app.Main.main", 1, 100),
        ("app.Main.main;app.Main.parse", 10, 300),
        ("app.Main.main;app.Main.parse;java.lang.String.trim", 20, 200),
        ("app.Main.main;app.Main.parse;app.Main.parse", 5, 50),
        ("app.Main.main;<script>alert(1)</script>", 2, 150),
        ("app.Main.main;app.Main.print", 3, 200),
    ],
    "worker": [("app.Worker.run", 1, 500), ("app.Worker.run;java.lang.String.trim", 10, 100)],
}
AFTER = {
    **SMALL,
    "main": [entry if entry[0] != "app.Main.main;app.Main.parse" else (entry[0], 20, 700) for entry in SMALL["main"]],
}


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    return varint(field << 3 | 2) + varint(len(value)) + value


def pprof(threads):
    """https://github.com/google/pprof/blob/main/proto/profile.proto"""
    strings, functions, profile = {"": 0}, {}, b""

    def string(value):
        return strings.setdefault(value, len(strings))

    for name in ("calls", "bytecodes"):
        profile += text(1, number(1, string(name)) + number(2, string("count")))
    for thread, contexts in threads.items():
        label = text(3, number(1, string("thread")) + number(2, string(thread)))
        for path, *values in contexts:
            ids = [functions.setdefault(frame, len(functions) + 1) for frame in path.split(";")]
            packed = b"".join(map(varint, reversed(ids)))
            profile += text(2, text(1, packed) + text(2, b"".join(map(varint, values))) + label)
    for name, number_ in functions.items():
        profile += text(4, number(1, number_) + text(4, number(1, number_)))
        profile += text(5, number(1, number_) + number(2, string(name)))
    return profile + b"".join(text(6, value.encode()) for value in strings)


def large(file, levels):
    """Every context calls two more, 2 ** levels - 1 in all; values differ a lot, as real ones do."""
    chance = random.Random(1)
    names = [f"a.p{i % 40}.C{i % 900}.m{i}" for i in range(20000)]
    pending = [("main", levels)]
    while pending:
        path, left = pending.pop()
        first = int((len(names) - 2) * chance.random() ** 3)
        for name in names[first : first + (1 if path == "main" else 2)]:
            callee = f"{path};{name}"
            file.write(f"{callee} {int(chance.paretovariate(0.9))}\n")
            if left > 1:
                pending.append((callee, left - 1))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "small.pb").write_bytes(pprof(SMALL))
    (folder / "after.pb").write_bytes(pprof(AFTER))
    if "--large" in sys.argv:
        with open(folder / "large.txt", "w") as file:
            large(file, 20)


main()
