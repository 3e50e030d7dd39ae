#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""options.py SONDE [--app-classes FOLDER]: what the options of exact counting promise, on every JDK found.

Exit code 1: a promise is broken. 77: something needed is not built.
"""

import argparse
import collections
import json
import pathlib
import re
import sys
import tempfile

import profiles
from profiles import ROOT, RunFailed, execute

import build  # test/apps; profiles put it on the path


class Broken(Exception):
    pass


def expect(what, actual, expected):
    if actual != expected:
        raise Broken(f"{what}: {actual!r} instead of {expected!r}")


class Run:
    """One recorded run of a test program in a folder of its own."""

    def __init__(self, arguments, jdk, folder, app, *options, jvm=()):
        self.sonde, self.out = arguments.sonde, pathlib.Path(folder) / "x.sonde"
        command = [jdk.java, *jvm, "-cp", arguments.app_classes / "classes", f"app.{app}"]
        self.done = execute([self.sonde, "run", *options, "-o", self.out, "--", *command])
        if not self.out.exists():
            raise RunFailed(f"no recording\n{profiles.tail(self.done.stderr)}")

    def words(self, *words):
        return execute([self.sonde, *words])

    def counters(self, recording=None):
        status = json.loads(self.words("status", recording or self.out, "--json").stdout)
        return {counter["name"]: counter["value"] for counter in status["counters"]}

    def sums(self, recording=None):
        """{method: [calls, bytecodes]} of thread main."""
        sums = collections.defaultdict(lambda: [0, 0])
        for line in self.words("export", recording or self.out, "--to", "jsonl").stdout.splitlines():
            context = json.loads(line)
            if context["thread"] == "main":
                method = context["stack"][-1]
                sums[method][0] += context["calls"]
                sums[method][1] += context["bytecodes"]
        return sums


def flat_has_no_tree(arguments, jdk, folder):
    run = Run(arguments, jdk, folder, "Recursion", "--mode", "exact:flat")
    for words in (["--tree"], ["--by", "line"]):
        refused = run.words("report", run.out, *words)
        expect(f"report {words}", (refused.returncode, "has no contexts" in refused.stderr), (1, True))
    expect("report", run.words("report", run.out).returncode, 0)
    expect("mode", json.loads(run.words("status", run.out, "--json").stdout)["mode"], "exact:flat")


def bounds_are_about_contexts(arguments, jdk, folder):
    refused = execute([arguments.sonde, "run", "--mode", "exact:flat", "--max-depth", "3", "--", jdk.java, "-version"])
    expect("exit code", refused.returncode, 2)


def frames_alive_are_counted(arguments, jdk, folder):
    """ExitDeep calls System.exit below main, seven times dive, and leave; Recursion ends with no frame left."""
    for mode in ("exact", "exact:flat"):
        with tempfile.TemporaryDirectory(dir=folder) as own:
            counters = Run(arguments, jdk, own, "ExitDeep", "--mode", mode).counters()
            expect(f"frames alive, {mode}", counters.get("FramesAlive"), 9)
        with tempfile.TemporaryDirectory(dir=folder) as own:
            expect(f"none, {mode}", Run(arguments, jdk, own, "Recursion", "--mode", mode).counters().get("FramesAlive"), None)


def bounded_trees_say_so(arguments, jdk, folder):
    for options, name in ((["--fold-recursion"], "RecursionFolded"), (["--max-depth", "3"], "ContextsCut")):
        with tempfile.TemporaryDirectory(dir=folder) as own:
            expect(name, Run(arguments, jdk, own, "Recursion", *options).counters().get(name, 0) > 0, True)


def intrinsics_are_counted(arguments, jdk, folder):
    """Methods that would be replaced have the same bytecodes, whoever compiles them; by default they have none."""
    wanted = ("java/lang/Math.max(II)I", "java/lang/Integer.bitCount(I)I", "java/lang/String.equals(Ljava/lang/Object;)Z")
    rounds = 50_000
    seen = {}
    for name, jvm in (("int", ["-Xint"]), ("default", []), ("c1", ["-XX:TieredStopAtLevel=1"])):
        with tempfile.TemporaryDirectory(dir=folder) as own:
            sums = Run(arguments, jdk, own, "Intrinsics", "--intrinsics", "count", jvm=jvm).sums()
            # What start-up does varies; all that is called in every round is the program's.
            seen[name] = {method: sums[method] for method in sums if sums[method][0] >= rounds}
    for method in wanted:
        calls, bytecodes = seen["int"].get(method, (0, 0))
        expect(method, calls >= rounds and bytecodes >= 2 * calls, True)
    for name in ("default", "c1"):
        different = {m: (seen["int"].get(m), v) for m, v in seen[name].items() if is_other(seen["int"].get(m), v, rounds)}
        expect(f"{name} against int", different, {})
    with tempfile.TemporaryDirectory(dir=folder) as own:
        sums = Run(arguments, jdk, own, "Intrinsics").sums()
        expect("bytecodes of Math.max without the option", sums["java/lang/Math.max(II)I"][1], 0)


def is_other(expected, actual, rounds):
    """Start-up differs by a few calls between configurations; a method that is replaced loses thousands."""
    return expected is None or abs(expected[0] - actual[0]) > rounds // 100 or abs(expected[1] - actual[1]) > rounds


def children_are_left_alone(arguments, jdk, folder):
    run = Run(arguments, jdk, folder, "StartsJvm", "--no-jdk")
    expect("printed", run.done.stdout, "StartsJvm child 1000\nStartsJvm 0\n")
    expect("recordings", [path.name for path in pathlib.Path(folder).iterdir()], ["x.sonde"])


def children_are_followed(arguments, jdk, folder):
    run = Run(arguments, jdk, folder, "StartsJvm", "--no-jdk", "--follow")
    expect("printed", run.done.stdout, "StartsJvm child 1000\nStartsJvm 0\n")
    expect("calls in the parent", run.sums().get("app/StartsJvm.work()V"), None)
    children = sorted(pathlib.Path(folder).glob("x.*.sonde"))
    expect("recordings", (len(children), len(list(pathlib.Path(folder).iterdir()))), (1, 2))
    expect("calls in the child", run.sums(children[0])["app/StartsJvm.work()V"][0], 1000)


def initialisers_hang_below_who_runs_them(arguments, jdk, folder):
    """Not below a native method that was called before. The oracle's profiles have no frames of the JDK, so they do not tell."""
    run = Run(arguments, jdk, folder, "ClinitAfterNative", "--no-jdk")
    contexts = [json.loads(line)["stack"] for line in run.words("export", run.out, "--to", "jsonl").stdout.splitlines()]
    main = "app/ClinitAfterNative.main([Ljava/lang/String;)V"
    expect("nanoTime", [main, "java/lang/System.nanoTime()J"] in contexts, True)
    found = [stack for stack in contexts if stack[-1] == "app/ClinitAfterNative$Lazy.<clinit>()V"]
    expect("contexts of the initialiser", found, [[main, "app/ClinitAfterNative$Lazy.<clinit>()V"]])


def verified(arguments, jdk, folder, *jvm):
    """The classes that the JVM verified; none of the program's own is left out."""
    done = Run(arguments, jdk, folder, "Recursion", jvm=["-Xlog:class+init=info", *jvm]).done
    names = set(re.findall(r"Start class verification for: (\S+)", done.stdout))
    expect("the program's class is verified", "app.Recursion" in names, True)
    return names


def boot_classes_are_verified_as_without_us(arguments, jdk, folder):
    """JDK 25 verifies what an agent changed; not what is loaded while it boots."""
    early = {"java.util.HashMap", "java.lang.module.ModuleDescriptor"}
    for jvm, expected in (((), set()), (("-Xverify:all",), early)):
        with tempfile.TemporaryDirectory(dir=folder) as own:
            expect(f"verified {jvm}", verified(arguments, jdk, own, *jvm) & early, expected)


PROMISES = (flat_has_no_tree, bounds_are_about_contexts, frames_alive_are_counted, bounded_trees_say_so,
            intrinsics_are_counted, children_are_left_alone, children_are_followed,
            initialisers_hang_below_who_runs_them, boot_classes_are_verified_as_without_us)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sonde", type=pathlib.Path)
    parser.add_argument("--app-classes", type=pathlib.Path, default=ROOT / "build/apps")
    arguments = parser.parse_args()
    arguments.sonde = arguments.sonde.resolve()
    jdks = build.find_jdks()
    if not arguments.sonde.exists() or not jdks:
        print(f"options: missing: {arguments.sonde} or a JDK; build it first", file=sys.stderr)
        return 77
    build.build(arguments.app_classes, jdks)
    failed = 0
    for promise in PROMISES:
        for jdk in jdks:
            with tempfile.TemporaryDirectory(prefix="exact-options-") as folder:
                try:
                    promise(arguments, jdk, folder)
                    problem = ""
                except (Broken, RunFailed, KeyError, ValueError) as error:
                    problem, failed = f" FAILED {type(error).__name__}: {error}", failed + 1
            print(f"{promise.__name__} jdk {jdk.major}{problem or ' ok'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
