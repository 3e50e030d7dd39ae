#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [SONDE]: every test program, JDK and JVM configuration: sonde's exact profile against the oracle's.

A case passes when all contexts, calls and bytecodes of the application are equal, and the program printed the same and
ended with the same exit code as under the oracle. Exit code 1: a case failed. 77: something needed is not built.

  --apps A,B    --jdk 17,25    --config int,c1    only these
  --variant V   tree (the default), or what has fewer contexts: flat (--mode exact:flat), fold (--fold-recursion) and
                depth (--max-depth); then sums by thread and method are compared
  --quick       all programs, oldest JDK (newer for those that need it), configurations `default` and `int`
  --oracle-only run the oracle alone, twice by both ways of counting, and say where it differs: what JVM events do
"""

import argparse
import collections
import dataclasses
import pathlib
import re
import sys
import time

import compare
import profiles
from profiles import ROOT, RunFailed

import build  # test/apps; profiles put it on the path

CONFIGURATIONS = {
    "int": ["-Xint"],
    "c1": ["-XX:TieredStopAtLevel=1"],
    "default": [],
    "comp": ["-XX:-TieredCompilation", "-Xcomp"],
    "serial": ["-XX:+UseSerialGC"],
    "g1": ["-XX:+UseG1GC"],
}
# -Xcomp compiles all of the JDK that runs, 10 s and more a program: a selection.
COMP_APPS = {"CatchInLoop", "ClinitThrow", "ConstructorThrow", "FinallyNested", "HotMix", "Lambdas", "NativeCalls",
             "OldFinally", "Recursion", "Synchronized", "ThrowIndex", "ThrowNull"}  # fmt: skip
QUICK = ("default", "int")
MAX_DEPTH = 3
VARIANTS = {
    "tree": ["--mode", "exact"],
    "flat": ["--mode", "exact:flat"],
    "fold": ["--fold-recursion", "--no-jdk"],
    "depth": ["--max-depth", str(MAX_DEPTH), "--no-jdk"],
}
MAX_SHOWN = 12


# What Sonde does not count as the oracle does, and says so (docs/design/0003-exact-counting.md, "Limits"). Only the lines
# that match are let pass; a program that has none of them any more fails, so that this list cannot outlive its reasons.
ALIVE = "frames that are alive when the JVM ends have not added their bytecodes yet"
KNOWN = {
    "Daemons": (r"differs .*: bytecodes expected \d+ actual 0 ", ALIVE),
    "ExitDeep": (r"differs .*: bytecodes expected ", ALIVE),
    "NativeCalls": (r"callVirtual|virtualCallback", "a native method that can be overridden is not counted"),
    "UserLoader": (r"UserLoader\.loadClass", "application class loaders are asked for java.lang.SondeRT once each"),
}
# Without contexts an invocation with several paths is counted when it ends.
KNOWN_FLAT = {
    **KNOWN,
    "Daemons": (r"(differs|missing) ", ALIVE),
    "ExitDeep": (r"(differs|missing) ", ALIVE),
}


@dataclasses.dataclass
class Result:
    app: str
    jdk: int
    config: str
    verdict: str  # ok, known, DIFFERS, FAILED
    seconds: float
    details: list


def selection(parser, text, known, what):
    if text is None:
        return list(known)
    chosen = text.split(",")
    unknown = [name for name in chosen if name not in known]
    if unknown:
        parser.error(f"no such {what}: {', '.join(unknown)}; there are {', '.join(map(str, known))}")
    return chosen


def misshapen(profile, variant):
    """Stacks that a bounded tree must not have. (Native methods are no nodes, so they may come again or on top.)"""
    frames = lambda stack: [frame for frame in stack if "app/NativeCalls." not in frame]
    if variant == "flat":
        return [f"not flat: {stack}" for _, stack in profile if len(stack) > 1]
    if variant == "fold":
        return [f"not folded: {stack}" for _, stack in profile if len(set(frames(stack))) < len(frames(stack))]
    # The frames of the path and one below [deeper], which is no frame of the application.
    return [f"too deep: {stack}" for _, stack in profile if len(frames(stack)) > MAX_DEPTH + 1]


def judge(arguments, app, jdk, config):
    """The differences of one case; empty if it passes."""
    expected, oracle_file = profiles.cached_oracle(arguments.oracle, app, jdk, arguments.work / "oracle")
    recording = arguments.work / "recordings" / f"{app.name}.{jdk.major}.{config}.{arguments.variant}.sonde"
    command = app.command(jdk, CONFIGURATIONS[config])
    actual, sonde_file = profiles.run_sonde(arguments.sonde, command, recording, VARIANTS[arguments.variant])
    found = []
    if actual.exit_code != expected.exit_code:
        found.append(f"exit code {actual.exit_code} instead of {expected.exit_code}")
    if actual.stdout != expected.stdout:
        found.append(f"printed {actual.stdout!r} instead of {expected.stdout!r}")
    right, ours = (compare.load(file, profiles.PREFIXES) for file in (oracle_file, sonde_file))
    sonde_file.unlink()  # hundreds of megabytes; the recording has it all
    if arguments.variant != "tree":
        found += misshapen(ours, arguments.variant)
        right, ours = compare.flattened(right), compare.flattened(ours)
    return found + list(compare.differences(right, ours))


def run_case(arguments, app, jdk, config):
    start = time.monotonic()
    try:
        found = judge(arguments, app, jdk, config)
        known = {} if arguments.no_known else KNOWN_FLAT if arguments.variant == "flat" else KNOWN
        pattern, reason = known.get(app.name, (None, None))
        details = [line for line in found if pattern is None or not re.search(pattern, line)]
        verdict = "DIFFERS" if details else "known" if found else "ok"
        if verdict == "known":
            details = [f"as documented: {reason}"]
        elif verdict == "ok" and pattern is not None:
            verdict, details = "DIFFERS", ["is right now: take it off the list of known differences"]
    except (RunFailed, compare.UnusableProfile) as error:
        verdict, details = "FAILED", str(error).splitlines()
    return Result(app.name, jdk.major, config, verdict, time.monotonic() - start, details)


def report(result):
    case = f"{result.app:18} jdk {result.jdk:<3} {result.config:8}"
    print(f"{case} {result.verdict:8} {result.seconds:6.1f} s", flush=True)
    for line in result.details[:MAX_SHOWN]:
        print(f"    {line}", flush=True)
    if len(result.details) > MAX_SHOWN:
        print(f"    … and {len(result.details) - MAX_SHOWN} more", flush=True)


def print_table(results):
    """Programs down, JDK and configuration across; a dot is a pass, k a documented difference, D any other, F a failed run."""
    columns = list(dict.fromkeys((r.jdk, r.config) for r in results))
    cells = {(r.app, r.jdk, r.config): {"ok": ".", "known": "k", "DIFFERS": "D", "FAILED": "F"}[r.verdict] for r in results}
    print("\n" + " " * 18 + " ".join(f"{jdk}/{config:8}" for jdk, config in columns))
    for app in dict.fromkeys(r.app for r in results):
        row = (cells.get((app, *column), " ").ljust(len(str(column[0])) + 9) for column in columns)
        print(f"{app:18}" + " ".join(row).rstrip())
    verdicts = collections.Counter(r.verdict for r in results)
    failed = verdicts["DIFFERS"] + verdicts["FAILED"]
    print(f"{verdicts['ok']} as the oracle, {verdicts['known']} with a documented difference")
    print(f"{len(results) - failed} passed, {failed} failed")


def check_oracle(arguments, apps, jdks):
    """Is the oracle the same twice and on all JDKs? What single steps say is shown, not judged."""
    folder = arguments.work / "oracle_check"
    folder.mkdir(parents=True, exist_ok=True)
    failed = passed = 0
    for app in apps:
        by_jdk = {}
        for jdk in (jdk for jdk in jdks if jdk.major >= app.min_jdk):
            start = time.monotonic()
            problems, steps = [], []
            try:
                plain = profiles.run_plain(app.command(jdk))
                runs = []
                for label, count in (("1", "breakpoint"), ("2", "breakpoint"), ("step", "step")):
                    out = folder / f"{app.name}.{jdk.major}.{label}.jsonl"
                    if profiles.run_oracle(arguments.oracle, app, jdk, out, count) != plain:
                        problems.append(f"the program behaves differently under the oracle ({label})")
                    runs.append(compare.load(out, profiles.PREFIXES))
                problems += compare.differences(runs[0], runs[1])
                steps = list(compare.differences(runs[0], runs[2]))
                by_jdk[jdk.major] = runs[0]
            except RunFailed as error:
                problems += str(error).splitlines()
            verdict = "FAILED" if problems else "ok"
            seconds = time.monotonic() - start
            report(Result(app.name, jdk.major, f"{len(steps)} steps", verdict, seconds, problems + steps))
            passed, failed = passed + (not problems), failed + bool(problems)
        for jdk, profile in list(by_jdk.items())[1:]:
            first = next(iter(by_jdk))
            found = list(compare.differences(by_jdk[first], profile))
            if found:
                report(Result(app.name, jdk, f"vs {first}", "DIFFERS", 0, found))
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sonde", nargs="?", type=pathlib.Path, default=ROOT / "build/dev/sonde")
    parser.add_argument("--oracle", type=pathlib.Path, help="liboracle.so (beside the sonde binary)")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/exact", help="recordings and oracle profiles")
    parser.add_argument("--app-classes", type=pathlib.Path, default=ROOT / "build/apps")
    parser.add_argument("--apps")
    parser.add_argument("--jdk")
    parser.add_argument("--config")
    parser.add_argument("--variant", choices=VARIANTS, default="tree")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--oracle-only", action="store_true")
    parser.add_argument("--no-known", action="store_true", help="documented differences fail, too")
    arguments = parser.parse_args()
    arguments.sonde = arguments.sonde.resolve()
    arguments.work = arguments.work.resolve()
    arguments.oracle = (arguments.oracle or arguments.sonde.parent / "liboracle.so").resolve()

    jdks = build.find_jdks()
    missing = [str(path) for path in (arguments.oracle, arguments.sonde) if not path.exists()]
    if arguments.oracle_only:
        missing = [] if arguments.oracle.exists() else [str(arguments.oracle)]
    if missing or not jdks:
        print(f"run: missing: {', '.join(missing) or 'a JDK (tools/find_jdks)'}; build it first", file=sys.stderr)
        return 77

    programs = {app.name: app for app in build.build(arguments.app_classes, jdks)}
    apps = [programs[name] for name in selection(parser, arguments.apps, programs, "program")]
    majors = selection(parser, arguments.jdk, {str(jdk.major): jdk for jdk in jdks}, "JDK")
    jdks = [jdk for jdk in jdks if str(jdk.major) in majors]
    configs = selection(parser, arguments.config, QUICK if arguments.quick else CONFIGURATIONS, "configuration")
    if arguments.oracle_only:
        return 1 if check_oracle(arguments, apps, jdks) else 0

    results = []
    for app in apps:
        able = [jdk for jdk in jdks if jdk.major >= app.min_jdk]
        for jdk in able[:1] if arguments.quick else able:
            for config in configs:
                if config == "comp" and app.name not in COMP_APPS and arguments.apps is None:
                    continue
                results.append(run_case(arguments, app, jdk, config))
                report(results[-1])
    if not results:
        print("run: nothing to do: no JDK is new enough for these programs", file=sys.stderr)
        return 77
    print_table(results)
    return 0 if all(result.verdict in ("ok", "known") for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
