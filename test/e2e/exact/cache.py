#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cache.py [SONDE]: does a profile depend on where the JDK's instrumented classes come from?

Each program runs without the cache of classes, with an empty one, with a full one, with one that is damaged and where none can be
written. All contexts below the application's, those of the JDK included, must have the same calls and bytecodes on the main
thread; only what java.lang.invoke does depends on identity hash codes and is left out. Exit code 1: they differ, or the cache is not as it should be. 77: something needed is not built.
"""

import argparse
import os
import pathlib
import shutil
import stat
import sys

import compare
import profiles
from profiles import ROOT, RunFailed

import build  # test/apps; profiles put it on the path

PROGRAMS = "HotMix,Recursion"
EVERY_CLASS = ("",)
# Else the JIT compiler replaces exceptions by one made in advance, at some moment, and their constructors are not called.
JVM_OPTIONS = ["-XX:-OmitStackTraceInFastThrow"]


def is_of_interest(stack):
    return any(f.startswith("app/") for f in stack) and not any(f.startswith("java/lang/invoke/") for f in stack)


def record(arguments, app, jdk, way, options=()):
    recording = arguments.work / f"{app.name}.{jdk.major}.{way}.sonde"
    outcome, file = profiles.run_sonde(arguments.sonde, app.command(jdk, JVM_OPTIONS), recording, options=options)
    everything = compare.load(file, EVERY_CLASS, threads={"main"})
    profile = {key: values for key, values in everything.items() if is_of_interest(key[1])}
    if not any(key[1][-1].startswith("java/") for key in profile):
        raise RunFailed(f"{way}: no context of the JDK")
    return outcome, profile


def cached_files(folder):
    return sorted((folder / "sonde").glob("classes-*"))


def damage(file):
    """In the middle of some class, whose checksum is then wrong; the others remain good."""
    content = bytearray(file.read_bytes())
    for position in range(len(content) // 2, len(content), len(content) // 9):
        content[position] ^= 0xFF
    file.write_bytes(content)


def judge(arguments, app, jdk):
    """What is wrong, a line each."""
    folder = arguments.work / "cache"
    shutil.rmtree(folder, ignore_errors=True)
    os.environ["XDG_CACHE_HOME"] = str(folder)
    runs = {"without": record(arguments, app, jdk, "without", ["--no-class-cache"])}
    if cached_files(folder):
        return ["--no-class-cache keeps classes"]
    runs["cold"] = record(arguments, app, jdk, "cold")
    files = cached_files(folder)
    if len(files) != 1 or stat.S_IMODE(files[0].stat().st_mode) != 0o600:
        return [f"one file that is the user's alone was expected in the cache: {files}"]
    made = files[0].stat().st_mtime_ns
    runs["warm"] = record(arguments, app, jdk, "warm")
    if files[0].stat().st_mtime_ns != made:
        return ["the cache was made again although nothing was new"]
    damage(files[0])
    runs["damaged"] = record(arguments, app, jdk, "damaged")
    files[0].write_bytes(files[0].read_bytes()[:1000])
    runs["truncated"] = record(arguments, app, jdk, "truncated")
    if files[0].stat().st_size == 1000:
        return ["a truncated file was not made again"]
    shutil.rmtree(folder)
    folder.write_text("where a folder should be")
    runs["unwritable"] = record(arguments, app, jdk, "unwritable")
    folder.unlink()
    expected_outcome, expected = runs.pop("without")
    problems = []
    for way, (outcome, profile) in runs.items():
        problems += [] if outcome == expected_outcome else [f"{way}: the program behaves differently"]
        problems += [f"{way}: {line}" for line in compare.differences(expected, profile)]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sonde", nargs="?", type=pathlib.Path, default=ROOT / "build/dev/sonde")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/class_cache")
    parser.add_argument("--app-classes", type=pathlib.Path, default=ROOT / "build/apps")
    parser.add_argument("--apps", default=PROGRAMS, help="%(default)s")
    arguments = parser.parse_args()
    arguments.sonde = arguments.sonde.resolve()
    arguments.work = arguments.work.resolve()
    jdks = build.find_jdks()
    if not arguments.sonde.exists() or not jdks:
        print("cache: sonde or a JDK is missing", file=sys.stderr)
        return 77
    programs = {app.name: app for app in build.build(arguments.app_classes, jdks)}
    failed = 0
    for name in arguments.apps.split(","):
        for jdk in (jdk for jdk in jdks if jdk.major >= programs[name].min_jdk):
            try:
                found = judge(arguments, programs[name], jdk)
            except (RunFailed, compare.UnusableProfile) as error:
                found = str(error).splitlines()
            failed += bool(found)
            print(f"{name:18} jdk {jdk.major:<3} {'WRONG' if found else 'same'}", flush=True)
            for line in found[:12]:
                print(f"    {line}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
