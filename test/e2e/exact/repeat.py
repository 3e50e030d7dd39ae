#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""repeat.py [options] -- java …: records the same command K times; are the profiles bit-identical?

Compares the profile of the named threads (main), reduced to classes with the given prefixes, by hash. On a difference
it prints what differs from the first run. Exit code 1: not the same every time.
"""

import argparse
import pathlib
import sys
import tempfile

import compare
import profiles
from profiles import ROOT, RunFailed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sonde", type=pathlib.Path, default=ROOT / "build/dev/sonde")
    parser.add_argument("--mode", default="exact")
    parser.add_argument("-k", "--times", type=int, default=5)
    parser.add_argument("--prefix", action="append", help="of classes that count (app/); '' for all")
    parser.add_argument("--thread", action="append", help="threads that count (main)")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="-- java …")
    arguments = parser.parse_args()
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        parser.error("a command is needed, after --")
    prefixes = tuple(arguments.prefix or profiles.PREFIXES)
    threads = arguments.thread or ["main"]

    first = None
    same = True
    with tempfile.TemporaryDirectory(prefix="sonde-repeat-") as folder:
        for i in range(1, arguments.times + 1):
            recording = pathlib.Path(folder) / f"{i}.sonde"
            try:
                _, file = profiles.run_sonde(arguments.sonde.resolve(), command, recording, ["--mode", arguments.mode])
                profile = compare.load(file, prefixes, threads)
            except (RunFailed, compare.UnusableProfile) as error:
                print(f"run {i}: {error}", file=sys.stderr)
                return 1
            if not profile:
                print(f"run {i}: no context of {prefixes} in {threads}: nothing is proved", file=sys.stderr)
                return 1
            print(f"run {i}: {len(profile)} contexts, {compare.digest(profile)}", flush=True)
            first = first or profile
            for line in compare.differences(first, profile):
                same = False
                print(f"    {line}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
