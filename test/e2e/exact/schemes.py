#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schemes.py [SONDE]: does the scheme of papers/001 (--scheme paper), which bench/exact compares ours with, count the same?

Each program runs under both, by whole blocks and without the JDK's classes; all contexts, calls and bytecodes of the
application must be equal, the threads taken together (the paper's trees are merged at the end). Exit code 1: they differ.
77: something needed is not built.
"""

import argparse
import pathlib
import sys

import compare
import profiles
from profiles import ROOT, RunFailed

import build  # test/apps; profiles put it on the path

# Not ConstructorThrow: when super() throws, the paper has counted a constructor without branches to its end.
PROGRAMS = "Arithmetic,CatchInLoop,FinallyNested,HotMix,InnerClasses,Iterators,Recursion,Switches,Threads,ThrowNull"
OPTIONS = ("--no-jdk", "--blocks", "default")


def without_threads(profile):
    merged = {}
    for (_, stack), values in profile.items():
        old = merged.get(("", stack), (0,) * len(values))
        merged["", stack] = tuple(a + b for a, b in zip(old, values, strict=True))
    return merged


def record(arguments, app, jdk, scheme):
    recording = arguments.work / f"{app.name}.{jdk.major}.{scheme}.sonde"
    options = (*OPTIONS, "--scheme", scheme)
    outcome, file = profiles.run_sonde(arguments.sonde, app.command(jdk), recording, options=options)
    profile = without_threads(compare.load(file, profiles.PREFIXES))
    if not profile:
        raise RunFailed(f"--scheme {scheme} counted nothing")
    return outcome, profile


def judge(arguments, app, jdk):
    try:
        ours, expected = record(arguments, app, jdk, "sites")
        theirs, actual = record(arguments, app, jdk, "paper")
    except (RunFailed, compare.UnusableProfile) as error:
        return str(error).splitlines()
    return ([] if ours == theirs else ["the program behaves differently"]) + list(compare.differences(expected, actual))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sonde", nargs="?", type=pathlib.Path, default=ROOT / "build/dev/sonde")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/schemes")
    parser.add_argument("--app-classes", type=pathlib.Path, default=ROOT / "build/apps")
    parser.add_argument("--apps", default=PROGRAMS, help="%(default)s")
    arguments = parser.parse_args()
    arguments.sonde = arguments.sonde.resolve()
    jdks = build.find_jdks()
    if not arguments.sonde.exists() or not jdks:
        print("schemes: sonde or a JDK is missing", file=sys.stderr)
        return 77
    programs = {app.name: app for app in build.build(arguments.app_classes, jdks)}
    failed = 0
    for name in arguments.apps.split(","):
        for jdk in (jdk for jdk in jdks if jdk.major >= programs[name].min_jdk):
            found = judge(arguments, programs[name], jdk)
            failed += bool(found)
            print(f"{name:18} jdk {jdk.major:<3} {'DIFFERS' if found else 'same'}", flush=True)
            for line in found[:12]:
                print(f"    {line}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
