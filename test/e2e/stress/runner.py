# SPDX-License-Identifier: Apache-2.0
"""What runners of cases share: options, what they need, and how a case is told. Used by stress/run.py and robust/run.py."""

import argparse
import pathlib
import sys
import time

from recordings import ROOT, Failed, compile_programs, find_jdks


class Skipped(Exception):
    """A case cannot be tried here; the message says why."""


def make_parser(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sonde", nargs="?", type=pathlib.Path, default=ROOT / "build/dev/sonde")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/stress", help="compiled programs, recordings")
    parser.add_argument("--cases")
    parser.add_argument("--jdk")
    parser.add_argument("--quick", action="store_true")
    return parser


def prepare(parser):
    """The arguments, with the compiled programs in `classes`, and the JDKs that are wanted. Ends with 77 if there is none."""
    arguments = parser.parse_args()
    arguments.sonde, arguments.work = arguments.sonde.resolve(), arguments.work.resolve()
    jdks = find_jdks()
    if not arguments.sonde.exists() or not jdks:
        print(f"run: {arguments.sonde} or a JDK (tools/find_jdks) is missing; build it first", file=sys.stderr)
        sys.exit(77)
    arguments.classes = arguments.work / "programs"
    compile_programs(arguments.classes, jdks)
    majors = chosen(parser, arguments.jdk, [str(jdk.major) for jdk in jdks], "JDK")
    return arguments, [jdk for jdk in jdks if str(jdk.major) in majors]


def chosen(parser, text, known, what):
    names = text.split(",") if text else list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no such {what}: {', '.join(unknown)}; there are {', '.join(known)}")
    return names


def passes(case, title, run):
    """Runs a case, which collects `problems` and a `note`, and tells how it went."""
    start, verdict = time.monotonic(), "ok"
    try:
        run(case)
    except Skipped as reason:
        verdict, case.note = "skipped", str(reason)
    except Failed as error:
        case.problems += str(error).splitlines()
    if case.problems:
        verdict = "FAILED"
    print(f"{title} {verdict:7} {time.monotonic() - start:6.1f} s  {case.note}", flush=True)
    for problem in case.problems[:25]:
        print(f"    {problem}", flush=True)
    return not case.problems


def summary(results):
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1
