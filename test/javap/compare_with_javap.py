#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does `sonde classfile dump` read classes as the JDK's own javap does?

Takes a fixed selection of a JDK's classes (by the hash of their names, so that it is spread over all modules and the
same everywhere) and the classes of test/golden/classfile, lists them with both programs and compares every constant,
instruction, exception range, line, local variable and stack map frame. Any difference fails. Before that it tampers
with one listing in many ways and checks that each change is noticed.
"""

import argparse
import hashlib
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

from facts import Totals, differences
from listings import JavapListing, SondeListing

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Always part of the selection: large, old, strange, or simply what a user looks at first.
FAVOURITES = [
    "/java.base/java/lang/Object.class",
    "/java.base/java/lang/String.class",
    "/java.base/java/lang/Record.class",
    "/java.base/java/util/HashMap.class",
    "/java.base/java/util/regex/Pattern.class",
    "/java.base/java/util/concurrent/ConcurrentHashMap.class",
    "/java.base/java/lang/invoke/MethodHandles$Lookup.class",
    "/java.base/sun/security/x509/X500Name.class",
    "/java.base/module-info.class",
]
MAX_SHOWN = 20


def run(command, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, **options)
    if result.returncode != 0:
        sys.exit(f"{command[0]} failed with {result.returncode}:\n{result.stderr.decode(errors='replace')[-2000:]}")
    return result.stdout.decode("utf-8", "replace")


def find_jdks():
    lines = run([ROOT / "tools/find_jdks"]).splitlines()
    return [tuple(line.split(" ", 1)) for line in lines if pathlib.Path(line.split(" ", 1)[1], "bin/jimage").exists()]


def select_classes(home, count):
    """Paths such as /java.base/java/lang/Object.class, as jimage's --include wants them."""
    module, paths = None, []
    for line in run([home / "bin/jimage", "list", home / "lib/modules"]).splitlines():
        if line.startswith("Module: "):
            module = line.split()[1]
        elif line.endswith(".class"):
            paths.append(f"/{module}/{line.strip()}")
    known = set(paths)
    chosen = [path for path in FAVOURITES if path in known]
    by_hash = sorted(known.difference(chosen), key=lambda path: hashlib.sha256(path.encode()).digest())
    return chosen + by_hash[: max(0, count - len(chosen))]


def extract(home, paths, folder):
    for start in range(0, len(paths), 500):  # the kernel limits the length of one argument
        include = ",".join(f"glob:{path}" for path in paths[start : start + 500])
        run([home / "bin/jimage", "extract", "--dir", folder, "--include", include, home / "lib/modules"])
    return sorted(folder.rglob("*.class"))


def batches(files, size=200):
    return (files[i : i + size] for i in range(0, len(files), size))


def read_all(reader, text):
    return {path: reader(lines).read() for path, lines in reader.split(text)}


def javap(home, files):
    options = ["-J-Dfile.encoding=UTF-8", "-J-Dstdout.encoding=UTF-8", "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"]
    return "\n".join(run([home / "bin/javap", *options, "-v", "-p", *batch]) for batch in batches(files))


def sonde(program, files):
    return "\n".join(run([program, "classfile", "dump", *batch]) for batch in batches(files))


def compare(ours, theirs, totals):
    found = []
    for path in sorted(ours.keys() | theirs.keys()):
        if path not in ours or path not in theirs:
            found.append(f"{path}: only {'sonde' if path in ours else 'javap'} lists it")
            continue
        totals.add(ours[path])
        found += differences(ours[path], theirs[path], path)
    return found


def check_that_tampering_is_noticed(text, theirs):
    """Changes one digit, word or line of our listing at a time, of every kind that the comparison claims to see."""
    kinds = {
        "pc or operand": r"(?m)^ +\d+: (?:goto|ifeq|bipush|iload|invokevirtual) +#?(\d+)",
        "mnemonic": r"(?m)^ +\d+: (aload_0|ireturn|dup|areturn)$",
        "line number": r"(?m)^ +line (\d+): \d+$",
        "line's pc": r"(?m)^ +line \d+: (\d+)$",
        "frame pc": r"(?m)^ +(\d+): (?:same|append|chop|full_frame|same_locals_1_stack_item) \(\d+\)$",
        "frame type": r"(?m)^ +\d+: (?:append|full_frame) \((\d+)\)$",
        "frame's types": r"(?m)^ +(?:locals|stack) = \[ (?:class )?(\w+)",
        "utf8 constant": r"(?m)^ +#\d+ = Utf8 +(\w+)",
        "constant's reference": r"(?m)^ +#\d+ = Methodref +#(\d+)\.",
        "constant's tag": r"(?m)^ +#\d+ = (Class|String|NameAndType) ",
        "max_stack": r"(?m)^ +Code: stack=(\d+)",
        "access flags": r"(?m)^    flags: 0x000(\d)",
        "case of a switch": r"(?m)^ +-?\d+: (\d+)\n",
        "exception handler": r"(?m)^ +\d+ +\d+ +(\d+)  (?:any|class \S+)$",
        "variable": r"(?m)^ +\d+ +\d+ +\d+  (this) ",
    }
    chance = random.Random(1)
    missed = []
    for kind, pattern in kinds.items():
        matches = list(re.finditer(pattern, text))
        if not matches:
            missed.append(f"{kind}: the sample has none")
        for match in chance.sample(matches, min(3, len(matches))):
            old = match[1]
            new = str(int(old) + 1) if old.isdigit() else {"Class": "String"}.get(old, "Class" if old[0].isupper() else old + "x")
            tampered = text[: match.start(1)] + new + text[match.end(1) :]
            if not compare(read_all(SondeListing, tampered), theirs, Totals()):
                missed.append(f"{kind}: `{match[0].strip()}` with {new} for {old}")
    lines = text.split("\n")
    dropped = next(i for i, line in enumerate(lines) if re.match(r"^ +\d+: aload_0$", line))
    if not compare(read_all(SondeListing, "\n".join(lines[:dropped] + lines[dropped + 1 :])), theirs, Totals()):
        missed.append("an instruction that is missing")
    if missed:
        sys.exit("the comparison does not notice a changed\n  " + "\n  ".join(missed))
    return len(kinds) + 1


def goldens(version):
    files = sorted((ROOT / "test/golden/classfile").glob("*.class"))
    # The javap of JDK 25 prints jsr and ret without operands; 17's prints them.
    return [file for file in files if file.name != "Old.class" or int(version.split(".")[0]) < 24]


def compare_jdk(program, version, home, count):
    started = time.monotonic()
    totals = Totals()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        files = extract(home, select_classes(home, count), folder)
        files += goldens(version)
        our_text = sonde(program, files)
        ours, theirs = read_all(SondeListing, our_text), read_all(JavapListing, javap(home, files))
        sample = next(text for text in re.split(r"(?m)^(?=# /)", our_text) if "/java/util/regex/Pattern.class" in text[:200])
        sample_path = sample[2 : sample.index("\n")]
        kinds = check_that_tampering_is_noticed(sample, {sample_path: theirs[sample_path]})
        found = compare(ours, theirs, totals)
    for line in found[:MAX_SHOWN]:
        print(line.replace(str(folder), ""), file=sys.stderr)
    print(
        f"JDK {version}: {totals}; {kinds} kinds of tampering noticed; {len(found)} differences in "
        f"{time.monotonic() - started:.1f} s"
    )
    return len(found) if totals.classes else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sonde", type=pathlib.Path, help="the program to test")
    parser.add_argument("--classes", type=int, default=300, help="how many classes of each JDK (default 300)")
    parser.add_argument("--all-jdks", action="store_true", help="every JDK of tools/find_jdks, not only the oldest")
    options = parser.parse_args()
    jdks = find_jdks()
    if not jdks:
        print("no JDK with javap and jimage was found; install one or set JAVA_HOME", file=sys.stderr)
        return 77  # ctest: skipped
    if not options.all_jdks:
        jdks = jdks[:1]
    counts = [compare_jdk(options.sonde.resolve(), version, pathlib.Path(home), options.classes) for version, home in jdks]
    return 1 if sum(counts) else 0


if __name__ == "__main__":
    sys.exit(main())
