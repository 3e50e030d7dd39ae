#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py EXPECTED ACTUAL [--prefix app/]...: are two exact profiles (JSON lines) equal?

Lines are summed by thread and by stack, of which only frames of classes with one of the prefixes remain; a line whose
own (innermost) frame has another class is not the application's and is left out, as is a sum of zeros. Every difference
is printed with its path and both values. Exit code 1: they differ. 2: a file cannot be used.

compare.py --self-test tampers with a profile in many ways and checks that each change is noticed.
"""

import argparse
import collections
import hashlib
import json
import pathlib
import random
import sys

METRICS = ("calls", "bytecodes")


class UnusableProfile(Exception):
    pass


def class_of(frame):
    """pkg/Class of pkg/Class.method(desc)ret; "" for a frame that is no method."""
    return frame.partition("(")[0].rpartition(".")[0]


def is_application(frame, prefixes):
    """Hidden classes (pkg/C$$Lambda.0x00007f… or pkg/C$$Lambda/0x…) never are: no agent can instrument them."""
    name = class_of(frame)
    return name.startswith(prefixes) and "." not in name and "/0x" not in name


def parse(lines, prefixes, threads=None):
    """{(thread, stack of application frames): [calls, bytecodes]}"""
    profile = collections.defaultdict(lambda: [0] * len(METRICS))
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            stack, thread = record["stack"], record["thread"]
            values = [record[metric] for metric in METRICS]
            if threads is not None and thread not in threads:
                continue
            if stack and is_application(stack[-1], prefixes):
                key = thread, tuple(frame for frame in stack if is_application(frame, prefixes))
                for i, value in enumerate(values):
                    profile[key][i] += value
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UnusableProfile(f"line {number}: {type(error).__name__}: {error}") from error
    return {key: tuple(values) for key, values in profile.items() if any(values)}


def load(path, prefixes, threads=None):
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return parse(file, prefixes, threads)
    except OSError as error:
        raise UnusableProfile(error) from error
    except UnusableProfile as error:
        raise UnusableProfile(f"{path}: {error}") from error


def flattened(profile):
    """The same by thread and method, as a profile without contexts has it."""
    flat = collections.defaultdict(lambda: [0] * len(METRICS))
    for (thread, stack), values in profile.items():
        for i, value in enumerate(values):
            flat[thread, stack[-1:]][i] += value
    return {key: tuple(values) for key, values in flat.items()}


def digest(profile):
    """One hash for the whole profile, independent of the order of lines."""
    text = json.dumps(sorted([thread, list(stack), *values] for (thread, stack), values in profile.items()))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def path_text(key):
    thread, stack = key
    return f"[{thread}] " + " > ".join(stack)


def differences(expected, actual):
    """A line of text for each difference, in the order of the paths."""
    for key in sorted(expected.keys() | actual.keys()):
        if key not in actual:
            calls, bytecodes = expected[key]
            yield f"missing   {path_text(key)}: expected calls {calls}, bytecodes {bytecodes}"
        elif key not in expected:
            calls, bytecodes = actual[key]
            yield f"not there {path_text(key)}: actual calls {calls}, bytecodes {bytecodes}"
        elif expected[key] != actual[key]:
            changes = ", ".join(
                f"{metric} expected {e} actual {a} ({a - e:+})"
                for metric, e, a in zip(METRICS, expected[key], actual[key], strict=True)
                if e != a
            )
            yield f"differs   {path_text(key)}: {changes}"


MAIN = "app/A.main([Ljava/lang/String;)V"
SAMPLE = [
    {"thread": "main", "stack": [MAIN], "calls": 1, "bytecodes": 40},
    {"thread": "main", "stack": [MAIN, "app/B.f(I)I"], "calls": 7, "bytecodes": 21},
    {"thread": "main", "stack": [MAIN, "app/B.f(I)I", "app/B.f(I)I"], "calls": 2, "bytecodes": 5},
    {"thread": "t 1", "stack": ["app/A$1.run()V", "app/B.<init>()V"], "calls": 3, "bytecodes": 9},
    {"thread": "t 1", "stack": ["app/A$1.run()V", "app/B.nat()V"], "calls": 3, "bytecodes": 0},
]


def self_test():
    prefixes = ("app/",)
    read = lambda records: parse([json.dumps(record) for record in records], prefixes)
    clone = lambda: json.loads(json.dumps(SAMPLE))
    sample = read(SAMPLE)
    assert len(sample) == len(SAMPLE)

    # What makes no difference: order, frames of other and hidden classes, a sum split in two, zeros, foreign lines.
    shuffled = clone()
    random.Random(1).shuffle(shuffled)
    padded = clone()
    for record in padded:
        record["stack"][1:1] = ["java/util/X.y()V", "app/A$$Lambda.0x0001.run()V", "app/A$$Lambda$1/0x08.run()V"]
    padded.append({"thread": "main", "stack": [MAIN, "java/X.y()V"], "calls": 4, "bytecodes": 4})
    padded.append({"thread": "main", "stack": ["app/Z.zero()V"], "calls": 0, "bytecodes": 0})
    # Foreign below the first frame only: the innermost frame of the first record must stay its own.
    padded[0]["stack"] = ["java/L.launch()V", SAMPLE[0]["stack"][0]]
    split = clone()
    split[1]["calls"] -= 3
    split.append({**SAMPLE[1], "calls": 3, "bytecodes": 0})
    for name, records in (("shuffled", shuffled), ("padded", padded), ("split", split)):
        found = list(differences(sample, read(records)))
        assert not found, (name, found)
        assert digest(read(records)) == digest(sample), name

    # What does: every value by one, every record dropped or moved, every frame renamed or dropped.
    tampered = []
    for i in range(len(SAMPLE)):
        for metric in METRICS:
            for by in (-1, 1):
                tampered.append(clone())
                tampered[-1][i][metric] += by
        tampered.append([record for j, record in enumerate(SAMPLE) if j != i])
        tampered.append(clone())
        tampered[-1][i]["thread"] += "x"
        for j in range(len(SAMPLE[i]["stack"])):
            tampered.append(clone())
            tampered[-1][i]["stack"][j] = "app/Other.m()V"
            if len(SAMPLE[i]["stack"]) > 1:
                tampered.append(clone())
                del tampered[-1][i]["stack"][j]
    for records in tampered:
        assert list(differences(sample, read(records))), records
        assert list(differences(read(records), sample)), records
        assert digest(read(records)) != digest(sample), records

    calls_of = lambda profile, thread: {stack: values[0] for (name, stack), values in profile.items() if name == thread}
    assert calls_of(flattened(sample), "main") == {(MAIN,): 1, ("app/B.f(I)I",): 9}

    no_bytecodes = '{"thread":"t","stack":["app/A.f()V"],"calls":1}'
    no_name = '{"thread":"t","stack":[5],"calls":1,"bytecodes":1}'
    for bad in ("{", "[]", no_bytecodes, no_name):
        try:
            parse([bad], prefixes)
        except UnusableProfile:
            continue
        raise AssertionError(f"accepted {bad}")
    print(f"self-test: {len(tampered)} changes noticed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("expected", nargs="?", type=pathlib.Path)
    parser.add_argument("actual", nargs="?", type=pathlib.Path)
    parser.add_argument("--prefix", action="append", help="of application classes, as in class files (app/)")
    parser.add_argument("--thread", action="append", help="only these threads")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return 0
    if arguments.actual is None:
        parser.error("two files are needed")
    prefixes = tuple(arguments.prefix or ["app/"])
    try:
        expected = load(arguments.expected, prefixes, arguments.thread)
        actual = load(arguments.actual, prefixes, arguments.thread)
    except UnusableProfile as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2
    found = list(differences(expected, actual))
    print("\n".join(found) if found else f"equal: {len(expected)} contexts")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
