#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts java as it was asked to, but with rewritten classes: for the WL_PREFIX of the workloads' run.sh.

usage: rewritten_java.py BINARY PASS WORK java ARGUMENT...

WORK/jdk.args has the options that patch the JDK, WORK/jars the rewritten jars; a folder on the class path (the driver's
own classes) is rewritten here into WORK/drivers.
"""
import os
import pathlib
import subprocess
import sys


def rewritten(entry: str, binary: str, pass_name: str, work: pathlib.Path) -> str:
    path = pathlib.Path(entry)
    if path.is_dir():
        folder = work / "drivers" / path.name
        subprocess.run(
            [binary, "--pass", pass_name, "--out", str(folder), entry], stdout=subprocess.DEVNULL, check=True
        )
        return str(folder)
    jar = work / "jars" / path.name
    if not jar.exists():
        raise SystemExit(f"rewritten_java.py: {entry} was not rewritten")
    return str(jar)


def main() -> None:
    binary, pass_name, work, java, *arguments = sys.argv[1:]
    folder = pathlib.Path(work)
    at = arguments.index("-cp") + 1
    arguments[at] = ":".join(rewritten(entry, binary, pass_name, folder) for entry in arguments[at].split(":"))
    os.execv(java, [java, f"@{folder}/jdk.args", *arguments])


main()
