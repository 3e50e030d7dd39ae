#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hand_counted.py --oracle LIB: does the oracle count what a person counts in a listing?

Runs Counted and app.OldFinally (test/apps/old) on all JDKs. Also shows that single steps alone would be wrong, and that
the oracle refuses to run where it could not count. Exit code 1: a number differs. 77: no JDK.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DOWN = "Counted.down()V"

# stack below main: (calls, bytecodes)
COUNTED = {
    "Counted.straight(II)I": (1, 4),
    "Counted.loop(I)I": (2, (4 + 3 + 2) + (4 + 10 * (3 + 6) + 3 + 2)),
    "Counted.guarded(II)I": (2, 4 + (3 + 3)),  # the call that throws counts, the ireturn after it does not
    "Counted.guarded(II)I Counted.divide(II)I": (2, 4 + 3),  # and the idiv that throws
    "Counted.local([I)I": (2, 3 + (2 + 3)),
    # field is 4: four invocations recurse, the fifth does not
    **{" ".join([DOWN] * depth): (1, 8 if depth < 5 else 7) for depth in range(1, 6)},
    "Counted$Lazy.<clinit>()V": (1, 3),
    "Counted.fail()I": (1, 4),
    "Counted.fail()I Counted$Thrown.<init>()V": (1, 3),
    "Counted.accessors()V": (1, 6 + 50 * (3 + 5) + 3 + 1),
    "Counted.accessors()V Counted$Cell.<init>()V": (1, 6),
    "Counted.accessors()V Counted$Cell.value()I": (50, 50 * 3),
    "Counted.choose(I)I": (3, 3 * 4),
    "Counted.lambda()V": (1, 2 + 2 + 2 + 1),
    "Counted.lambda()V Counted.lambda$lambda$0()V": (2, 2 * 5),
    "Counted.lambda()V Counted.lambda$lambda$0()V Counted.straight(II)I": (2, 2 * 4),
    "Counted.locked(Ljava/lang/Object;)V": (1, 4 + 4 + 3 + 1),
}
# Where single steps miss something: the class initialiser that getstatic triggers, and returns that follow each other.
WITH_STEPS = COUNTED | {
    "Counted$Lazy.<clinit>()V": (1, 0),
    **{" ".join([DOWN] * depth): (1, 7) for depth in range(1, 6)},
}
# 7 calls of 13 instructions, with and without the exception; main: 4, six rounds of 11, one of 10 (catches), 6 and 7.
OLD_FINALLY = {
    "": (1, 4 + 6 * 11 + 10 + 6 + 7),
    "OldFinally.divide(II)I": (7, 7 * 13),
}


def count(java, oracle, classes, name, folder, how, *options):
    """{stack below main, words separated by spaces, without app/: (calls, bytecodes)}"""
    out = folder / "out.jsonl"
    agent = f"-agentpath:{oracle}=out={out};include=app/;count={how}"
    subprocess.run([java, "-Xint", *options, agent, "-cp", classes, name], check=True, stdout=subprocess.DEVNULL)
    stats = json.loads(pathlib.Path(f"{out}.stats").read_text())
    assert stats["repaired"] == stats["unpaired"] == 0, stats
    counts = {}
    for line in out.read_text().splitlines():
        record = json.loads(line)
        assert record["thread"] == "main", record
        assert record["stack"][0].endswith(".main([Ljava/lang/String;)V"), record
        stack = " ".join(frame.removeprefix("app/") for frame in record["stack"][1:])
        counts[stack] = record["calls"], record["bytecodes"]
    return counts


def check(label, expected, actual):
    wrong = 0
    for stack in sorted(expected.keys() | (actual.keys() - {""})):
        if expected.get(stack) != actual.get(stack):
            by_hand, by_oracle = expected.get(stack), actual.get(stack)
            print(f"{label}: {stack or 'main'}: counted by hand {by_hand}, by the oracle {by_oracle}")
            wrong += 1
    print(f"{label}: {len(expected) - wrong} of {len(expected)} contexts as counted by hand")
    return wrong


def must_refuse(java, agent, *options):
    done = subprocess.run([java, *options, f"-agentpath:{agent}", "-version"], capture_output=True, text=True)
    assert done.returncode == 2 and "oracle: " in done.stderr, (agent, options, done)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--oracle", type=pathlib.Path, default=ROOT / "build/dev/liboracle.so")
    oracle = parser.parse_args().oracle.resolve()
    found = subprocess.run([ROOT / "tools/find_jdks"], check=True, capture_output=True, text=True).stdout.splitlines()
    jdks = [line.split(" ", 1) for line in found]
    if not jdks:
        print("no JDK found", file=sys.stderr)
        return 77
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="oracle-") as name:
        folder = pathlib.Path(name)
        subprocess.run([f"{jdks[0][1]}/bin/javac", "--release", "17", "-d", name, HERE / "Counted.java"], check=True)
        for version, home in jdks:
            java = f"{home}/bin/java"
            wrong += check(version, COUNTED, count(java, oracle, name, "app.Counted", folder, "breakpoint"))
            # Without the option the interpreter makes one instruction of aload_0 and getfield, and posts one step.
            steps = count(java, oracle, name, "app.Counted", folder, "step", "-XX:-RewriteFrequentPairs")
            wrong += check(f"{version}, single steps", WITH_STEPS, steps)
            old = count(java, oracle, ROOT / "test/apps/old", "app.OldFinally", folder, "breakpoint")
            wrong += check(f"{version}, subroutines", OLD_FINALLY, old)
            must_refuse(java, f"{oracle}=out={folder}/x;include=app/")  # compiled code
            must_refuse(java, f"{oracle}=out={folder}/x;count=breakpoint", "-Xint")  # of which methods?
            must_refuse(java, f"{oracle}=out={folder}/x;nonsense=1", "-Xint")
            must_refuse(java, f"{oracle}=include=app/", "-Xint")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
