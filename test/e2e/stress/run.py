#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [SONDE]: many threads, many classes, deep stacks, many exceptions, abrupt ends: is everything counted?

All numbers are known by construction (test/apps/stress). A program must print and return what it does without sonde.
Exit code 1: a case failed. 77: something needed is not built.

  --cases A,B   --jdk 17,25       only these
  --quick       smaller numbers, for every build
  --flat        a selection of cases in mode exact:flat: the same sums, no contexts
  --gc          a selection of cases with every garbage collector, compiler and verifier configuration
"""

import collections
import os
import pathlib
import signal
import subprocess
import sys
import time

import recordings
from recordings import Failed
from runner import chosen, make_parser, passes, prepare, summary

CONFIGURATIONS = {
    "g1": ["-XX:+UseG1GC"],
    "serial": ["-XX:+UseSerialGC"],
    "parallel": ["-XX:+UseParallelGC"],
    "zgc": ["-XX:+UseZGC"],
    "zgenerational": ["-XX:+UseZGC", "-XX:+ZGenerational"],
    "compact-headers": ["-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders"],
    "int": ["-Xint"],
    "c1": ["-XX:TieredStopAtLevel=1"],
    "comp": ["-Xcomp"],
    "verify": ["-Xverify:all"],
}
# Where a configuration exists: (first, last) JDK.
EXISTS = {"zgenerational": (21, 23), "compact-headers": (24, 99)}
FLAT_CASES = ["threads", "short-threads", "unloading", "versions", "virtual-stream", "virtual-together", "storm", "memory"]
GC_CASES = ["threads", "unloading", "storm", "overflow", "memory", "virtual-stream"]


def shortened(value):
    text = str(value).strip()
    return text if len(text) < 400 else f"{text[:200]} […] {text[-100:]}"


class Case:
    """What one case needs: runs its program twice, compares what is seen, and collects what is wrong."""

    def __init__(self, arguments, jdk, name, options):
        self.arguments, self.jdk, self.options = arguments, jdk, options
        self.out = arguments.work / f"{name}.{jdk.major}.sonde"
        self.problems, self.note = [], ""
        self.recording = None

    def expect(self, what, actual, expected):
        if actual != expected:
            self.problems.append(f"{what}: {shortened(actual)} instead of {shortened(expected)}")

    def run(self, program, *words, jvm=(), classes="classes", code=0):
        command = [self.jdk.java, *self.options, *jvm, "-cp", self.arguments.classes / classes, f"app.{program}", *words]
        plain = recordings.execute(command)
        if plain.code != code:
            raise Failed(f"without sonde the exit code is {plain.code}: {plain.stderr}")
        mode = ["--mode", "exact:flat"] if self.arguments.flat else []
        ended, self.recording = recordings.record(self.arguments.sonde, self.out, command, mode)
        self.expect("exit code", ended.code, plain.code)
        self.expect("stdout", ended.stdout, plain.stdout)
        self.expect("stderr", ended.complaints(), plain.complaints())
        if not self.recording.path.exists():
            raise Failed(f"no recording; exit code {ended.code}\n{ended.stdout}\n{ended.stderr}")
        status = self.recording.status()
        self.note = f"{status['arena']['bytes'] / 1e6:.1f} MB, {status['contexts']} contexts, {status['threads']} threads"
        self.expect("damage", status["damage"]["count"], 0)
        for loss in ("RecordsDropped", "TreesOverflowed", "ThreadsWithoutTree", "ClassesMalformed"):
            self.expect(loss, self.recording.counters().get(loss, 0), 0)
        return ended

    def expect_sums(self, expected):
        sums = self.recording.sums("--include", "app.*")
        for name, (calls, bytecodes) in expected.items():
            actual = sums["app/" + name]
            self.expect(f"calls of {name}", actual[0], calls)
            if bytecodes is not None:
                self.expect(f"bytecodes of {name}", actual[1], bytecodes)

    def expect_contexts(self, stack_end, by_thread):
        """Calls of the contexts that end with `stack_end` (method names of app classes), by thread."""
        if self.arguments.flat:
            stack_end = stack_end[-1:]
        actual = collections.Counter()
        for context in self.recording.contexts():
            frames = [frame.partition("(")[0] for frame in context["stack"] if frame.startswith("app/")]
            if [frame[4:] for frame in frames[-len(stack_end):]] == stack_end and context["stack"][-1].startswith("app/"):
                actual[context["thread"]] += context["calls"]
        wrong = [f"{t}: {actual[t]} instead of {by_thread.get(t, 0)}" for t in sorted({*actual, *by_thread})
                 if actual[t] != by_thread.get(t, 0)]  # fmt: skip
        if wrong:
            self.problems.append(f"calls of {' > '.join(stack_end)} in {len(wrong)} threads, the first: {'; '.join(wrong[:3])}")


def steps(program, n):
    return {f"{program}.step": (n, 8 * n), f"{program}.leaf": (2 * n, 12 * n)}


def threads(case, quick):
    count, calls = 64, 10_000 if quick else 100_000
    case.run("ManyThreads", count, calls)
    case.expect_sums(steps("ManyThreads", count * calls))
    case.expect_contexts(["ManyThreads$1.run", "ManyThreads.step"], {f"w-{i}": calls for i in range(count)})


def short_threads(case, quick):
    count, calls = 500 if quick else 3000, 10
    case.run("ShortThreads", count, calls)
    case.expect_sums(steps("ShortThreads", count * calls) | {"ShortThreads.run": (count, None)})


def unloading(case, quick):
    loaders, calls = 100 if quick else 300, 50
    case.run("Unloading", loaders, calls)
    n = loaders * calls
    case.expect_sums(
        {"Unloaded.applyAsInt": (n, 5 * n), "Unloaded.twice": (n, 4 * n), "Unloaded.<init>": (loaders, 3 * loaders),
         "Unloading.use": (loaders, None)}  # fmt: skip
    )
    strange = [row for row in case.recording.report()["rows"] if not row["class"] or not row["method"]]
    case.expect("methods without a name", strange, [])


def versions(case, quick):
    """Two versions of a class in many class loaders: their methods are told apart, and no memory is used for each loader."""
    loaders, calls = 100 if quick else 400, 500
    case.run("Versions", loaders, calls)
    n = loaders * calls // 2  # of each version
    case.expect_sums(
        {"VersionX.applyAsInt": (2 * n, 6 * n), "VersionX.step": (2 * n, 3 * n + 5 * n), "VersionX.twice": (n, 4 * n),
         "VersionX.<init>": (loaders, 3 * loaders)}  # fmt: skip
    )
    if case.arguments.flat:
        return
    nodes = case.recording.status()["arena"]["nodes"]
    case.run("Versions", loaders // 2, calls)
    further = nodes - case.recording.status()["arena"]["nodes"]
    if further > loaders // 2:
        case.problems.append(f"{loaders // 2} more class loaders are {further} more nodes")


def virtual(case, quick, how, count=20_000):
    count, calls = count // 10 if quick else count, 20
    case.run("ManyVirtualThreads", count, calls, how, classes="classes21")
    case.expect_sums(steps("ManyVirtualThreads", count * calls) | {"ManyVirtualThreads$1.run": (count, None)})
    if how == "stream" and not case.arguments.flat:  # there, threads are counted by the room they may need
        megabytes = case.recording.status()["arena"]["bytes"] / 1e6
        if megabytes > 60:
            case.problems.append(f"the arena has grown to {megabytes:.0f} MB")


def virtual_parked(case, quick):
    count, depth = 500 if quick else 5000, 200
    case.run("MortalThreads", "parked", depth, count, classes="classes21")
    case.expect_sums({"MortalThreads.downAndWait": (count * (depth + 1), None)})
    nodes = count * (depth + 100)
    megabytes = case.recording.status()["arena"]["bytes"] / 1e6
    if megabytes > 20 + nodes * 250 / 1e6:
        case.problems.append(f"the arena has grown to {megabytes:.0f} MB")


def virtual_killed(case, quick):
    """Threads end one after the other, and kill -9 comes at any moment, often while counts are moved to the group.
    The contexts are entered in order: those above some depth were entered once more than those below. A count that was
    lost or moved twice breaks the rule."""
    depth = 2000
    command = [case.jdk.java, *case.options, "-cp", case.arguments.classes / "classes21", "app.MortalThreads", "one", depth]
    for attempt in range(3 if quick else 20):
        recordings.remove(case.out)
        run = [str(word) for word in [case.arguments.sonde, "run", "-o", case.out, "--include", "app.*", "--", *command]]
        with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            lines = [process.stdout.readline() for _ in range(50 + 7 * attempt)]
            live = recordings.Recording(case.arguments.sonde, pathlib.Path(f"{case.out}.live"))
            jvm = live.status()["pid"]
            time.sleep(0.0003 * attempt)
            os.kill(jvm, signal.SIGKILL)
            lines += process.communicate(timeout=60)[0].splitlines()
        recording = recordings.Recording(case.arguments.sonde, case.out if case.out.exists() else live.path)
        status = recording.status()
        case.expect("damage", status["damage"], {"count": 0, "notes": []})
        counts = {}
        for context in recording.contexts():
            if context["stack"][-1].startswith("app/MortalThreads.down("):
                counts[len(context["stack"])] = counts.get(len(context["stack"]), 0) + context["calls"]
        in_order = [counts[length] for length in sorted(counts)]
        ended = max([int(line) for line in lines if line.strip().isdigit()], default=0)
        case.expect("contexts", len(in_order), depth + 1)
        case.expect(f"attempt {attempt}: counts by depth", in_order, sorted(in_order, reverse=True))
        if in_order and not (ended <= in_order[-1] <= in_order[0] <= in_order[-1] + 1 <= ended + 2):
            case.problems.append(f"{in_order[0]} to {in_order[-1]} calls; {ended} threads had ended")
        case.note = f"{in_order[0] if in_order else 0} threads at the end of attempt {attempt}"


def deep(case, quick):
    depth, times = 5000, 3
    case.run("DeepRecursion", depth, times)
    case.expect_sums({"DeepRecursion.down": (times * (depth + 1), times * (9 * depth + 5))})
    if case.recording.status()["depth"] < depth:
        case.problems.append(f"the tree is only {case.recording.status()['depth']} deep")


def overflow(case, quick):
    # How deep it gets is the JVM's business; the program must not notice, and what follows must be counted in place.
    case.run("StackOverflow", 10 if quick else 50)
    case.expect_sums({"StackOverflow.after": (1000, 5000)})
    rows = {row["class"] + "." + row["method"]: row for row in case.recording.report("--include", "app.*")["rows"]}
    case.expect("calls under main.after", rows["app/StackOverflow.after"]["total"]["calls"], 2000)


def storm(case, quick):
    times, depth = 10_000 if quick else 100_000, 20
    case.run("ExceptionStorm", times, depth)
    fresh = times // 10
    case.expect_sums(
        {"ExceptionStorm.down": (times * (depth + 1), times * (6 * depth + 4)),
         "ExceptionStorm.fresh": (fresh * (depth + 1), fresh * (13 * depth + 13))}  # fmt: skip
    )


def memory(case, quick):
    case.run("OutOfMemory", 3 if quick else 20, jvm=["-Xmx64m"])
    case.expect_sums({"OutOfMemory.after": (1000, 5000), "OutOfMemory.leaf": (1000, 6000)})


def ending(case, quick, how, code):
    case.run("Ending", how, code, code=code)
    expected = {f"spin-{i}": 1000 for i in range(5)}
    case.expect_contexts(["Ending$1.run", "Ending.spin", "Ending.leaf"], expected)
    case.expect_sums({"Ending.down": (2 * 501, None), "Ending.spin": (5, None), "Ending.arrive": (7, None)})
    case.expect("state", case.recording.status()["state"], "ended")


# name: (first JDK, function)
CASES = {
    "threads": (17, threads),
    "short-threads": (17, short_threads),
    "unloading": (17, unloading),
    "versions": (17, versions),
    "virtual-stream": (21, lambda case, quick: virtual(case, quick, "stream")),
    "virtual-together": (21, lambda case, quick: virtual(case, quick, "together")),
    "virtual-100000": (21, lambda case, quick: virtual(case, quick, "stream", 100_000)),
    "virtual-parked": (21, virtual_parked),
    "virtual-killed": (21, virtual_killed),
    "deep": (17, deep),
    "overflow": (17, overflow),
    "storm": (17, storm),
    "memory": (17, memory),
    "exit": (17, lambda case, quick: ending(case, quick, "exit", 7)),
    "halt": (17, lambda case, quick: ending(case, quick, "halt", 9)),
    "daemons": (17, lambda case, quick: ending(case, quick, "return", 0)),
}


def run_case(arguments, jdk, name, label):
    case = Case(arguments, jdk, f"{name}.{label}", CONFIGURATIONS.get(label, []))
    passed = passes(case, f"{name:17} jdk {jdk.major:<3} {label:16}", lambda c: CASES[name][1](c, arguments.quick))
    if passed and not arguments.keep:
        recordings.remove(case.out)
    return passed


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--config", help=f"with --gc, only these: {', '.join(CONFIGURATIONS)}")
    parser.add_argument("--flat", action="store_true")
    parser.add_argument("--gc", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep the recordings of cases that pass, too")
    arguments, jdks = prepare(parser)
    selected = FLAT_CASES if arguments.flat else GC_CASES if arguments.gc else CASES
    names = chosen(parser, arguments.cases or ",".join(selected), CASES, "case")
    labels = chosen(parser, arguments.config, CONFIGURATIONS, "configuration") if arguments.gc else ["default"]
    results = []
    for jdk in jdks:
        for label in labels:
            first, last = EXISTS.get(label, (17, 99))
            if first <= jdk.major <= last:
                results += [run_case(arguments, jdk, name, label) for name in names if jdk.major >= CASES[name][0]]
    return summary(results)


if __name__ == "__main__":
    sys.exit(main())
