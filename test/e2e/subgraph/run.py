#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [SONDE]: are call subgraphs and regions complete, exact and harmless? test/apps/subgraph calls every method a number
of times that is known here, from a root and from outside.

Exit code 1: a case failed. 77: something needed is not built.

  --cases A,B   --jdk 17,25     only these
  --quick       fewer calls, for every change
"""

import argparse
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "stress"))

from recordings import ROOT, Failed, Recording, compile_programs, execute, find_jdks, remove  # noqa: E402

SOURCES = ROOT / "test/apps/subgraph"
# (calls, exits by an exception) of each method for one call of Subgraph.task.
INSIDE = {
    "Subgraph.inner": (1, 0), "Subgraph.leaf": (6, 0), "Subgraph.shapes": (1, 0), "Subgraph$Square.area": (4, 0),
    "Subgraph$Circle.area": (3, 0), "Subgraph$Shape.twice": (1, 0), "Subgraph.recursive": (6, 0), "Subgraph.odd": (3, 0),
    "Subgraph.even": (2, 0), "Subgraph$Late.value": (1, 0), "Subgraph.lambdas": (1, 0), "Subgraph.inLambda": (2, 0),
    "Subgraph.reflection": (1, 0), "Subgraph.reflected": (1, 0), "Subgraph.handled": (1, 0), "Subgraph.many": (1, 0),
    "Subgraph.exceptions": (1, 0), "Subgraph.passing": (4, 2), "Subgraph.throwing": (4, 2),
    "Subgraph$Derived.<init>": (4, 2), "Subgraph$Derived.check": (4, 0), "Subgraph$Base.<init>": (4, 2),
    "Subgraph.sorted": (1, 0), "Subgraph$1.<init>": (1, 0), "Subgraph$1.compare": (8, 0),  # and its bridge
    "Subgraph.callbacks": (1, 0), "Subgraph.taken": (2, 0), "Subgraph$BySize.compare": (4, 0),  # and its bridge
    "Subgraph$Key.hashCode": (1, 0), "Subgraph$Key.equals": (1, 0), "Subgraph$Key.toString": (2, 0),
    "Subgraph$Numbers.iterator": (1, 0), "Subgraph$Numbers.size": (1, 0), "Subgraph$Each.<init>": (1, 0),
    "Subgraph$Each.hasNext": (3, 0), "Subgraph$Each.next": (4, 0),  # and its bridge
    "Subgraph.wides": (1, 0), "Subgraph.wide": (2, 0), "Subgraph$Wide.<init>": (2, 0), "Subgraph$First.<init>": (1, 0),
    "Subgraph$Second.<init>": (1, 0), "Subgraph$First.wide": (1, 0), "Subgraph$Second.wide": (1, 0),
    "Subgraph$Plain.<init>": (1, 0), "Subgraph$Both.<init>": (1, 0), "Subgraph$Plain.sized": (1, 0),
    "Subgraph$Bottom.chosen": (1, 0), "Subgraph.heavy": (1, 0),
}
LAMBDAS = 4  # calls of their bodies
BODIES, BRIDGES = 3, 3
# What scheme a cannot know: what is called by reflection, through a handle, or by the JDK.
NOT_EAGER = {"Subgraph.reflected", "Subgraph.handled", "Subgraph$1.compare", "Subgraph.taken", "Subgraph$BySize.compare",
             "Subgraph$Key.hashCode", "Subgraph$Key.equals", "Subgraph$Key.toString", "Subgraph$Numbers.iterator",
             "Subgraph$Numbers.size", "Subgraph$Each.<init>", "Subgraph$Each.hasNext", "Subgraph$Each.next"}  # fmt: skip
HANDLES = {"Subgraph.reflected", "Subgraph.handled"}
# Found by what the JDK's own methods call, where these are instrumented, for which nobody waits.
LATE = NOT_EAGER - HANDLES


class Case:
    def __init__(self, arguments, jdk):
        self.sonde, self.jdk, self.quick = arguments.sonde, jdk, arguments.quick
        self.classes = arguments.work / "classes"
        self.out = arguments.work / f"{jdk.major}.sonde"
        self.problems, self.note = [], ""

    def check(self, what, holds):
        if not holds:
            self.problems.append(what)

    def command(self, program, *words, jvm=()):
        return [self.jdk.home / "bin/java", "-Xmx256m", *jvm, "-cp", self.classes, f"app.{program}", *map(str, words)]

    def run(self, mode, program, *words, jvm=(), options=()):
        """Records a program and checks that it prints what it prints without us."""
        plain = execute(self.command(program, *words, jvm=jvm))
        remove(self.out)
        done = execute([self.sonde, "run", "--mode", mode, *options, "-o", self.out, "--",
                        *self.command(program, *words, jvm=jvm)])
        if done.code != 0 or done.stdout != plain.stdout or "done" not in done.stdout:
            raise Failed(f"{program} with {mode}: exit code {done.code}\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
        self.check(f"stderr: {done.complaints()}", done.complaints() == plain.complaints())
        return Recording(self.sonde, self.out)

    def check_calls(self, recording, expected, root_calls, root_exceptions, late=()):
        """Exactly these methods, exactly so often, but for those that may be found late."""
        found = {}
        for row in recording.report()["rows"]:
            name = f"{row['class'].removeprefix('app/')}.{row['method']}"
            calls, thrown = found.get(name, (0, 0))
            found[name] = (calls + row["self"]["calls"], thrown + row["self"].get("exceptions", 0))
        lambdas = {name: value for name, value in found.items() if ".lambda$" in name}
        found = {name: value for name, value in found.items() if name not in lambdas}
        wanted = {name: (calls * root_calls, thrown * root_calls) for name, (calls, thrown) in expected.items()}
        wanted["Subgraph.task"] = (root_calls, root_exceptions)
        for name in sorted((wanted.keys() | found.keys()) - set(late)):
            self.check(f"{name}: {found.get(name)} instead of {wanted.get(name)} (calls, exceptions)",
                       found.get(name) == wanted.get(name))
        self.check(f"lambdas: {lambdas}", sum(calls for calls, _ in lambdas.values()) == LAMBDAS * root_calls or late)

    def check_status(self, recording):
        status = recording.status()
        self.check(f"damage: {status['damage']}", status["damage"]["count"] == 0)
        self.check(f"counters: {status['counters']}", not status["counters"])
        return status["subgraph"]


def calls_and_exceptions(case):
    """One thread: every call from the first on, every exit by an exception, and nothing from outside."""
    calls = 200 if case.quick else 2000
    recording = case.run("subgraph:root=Subgraph.task", "Subgraph", 1, calls)
    case.check_calls(recording, INSIDE, calls, calls // 10)
    facts = case.check_status(recording)
    called = 1 + len(INSIDE) + BODIES + BRIDGES
    case.note = f"{facts['methods']} methods instrumented, {called} called; {facts['batches']} batches"
    case.check(f"{facts['methods']} methods instrumented, {called} called", facts["methods"] == called)
    root = facts["roots"][0]
    case.check(f"root: {root}", root["calls"] == calls and root["timed"] == calls and
               root["min_ns"] <= root["p50_ns"] <= root["p99_ns"] <= root["max_ns"] and len(root["last"]) == 64)
    report = recording.report()
    case.check(f"time: {report['sum']['wall_ns']} of {root['time_ns']}", 0 < report["sum"]["wall_ns"] <= 1.5 * root["time_ns"])


def distortion(case):
    """Methods that take less than measuring them are marked; one that takes microseconds is not."""
    report = case.run("subgraph:root=Subgraph.task", "Subgraph", 1, 3000).report()
    marked = {row["method"] for row in report["rows"] if row["distorted"]}
    case.note = f"{report['subgraph']['distorted_methods']} methods are marked"
    case.check(f"marked: {marked}", len(marked) > 3 and "heavy" not in marked)


def bare(case):
    """Roots run bare for a while: each of their calls is either bare or complete, but for those under way in between; scheme
    a does not see those while it changes classes. A recording may end before anything below roots is instrumented."""
    calls, threads = 40000, 2
    for scheme, time, bare in (("b", "wall", "200ms"), ("a", "cpu", "200ms"), ("b", "wall", "600s")):
        mode = f"subgraph:root=Subgraph.task,scheme={scheme},time={time},bare={bare}"
        recording = case.run(mode, "Subgraph", threads, calls)
        root = case.check_status(recording)["roots"][0]
        del root["last"]
        seen = root["all_bare"] + root["calls"]
        case.check(f"{mode}: {root}", (seen == threads * calls if scheme == "b" else seen <= threads * calls)
                   and root["timed"] == root["calls"] and root["all_bare"] >= root["bare"])  # fmt: skip
        rows = recording.report()["rows"]
        found = {f"{row['class'].removeprefix('app/')}.{row['method']}": row["self"]["calls"] for row in rows}
        if bare == "600s":
            case.check(f"{mode}: {found}, {root['calls']} calls", len(rows) == 1 and root["calls"] == 0)
            continue
        case.note += f"{root['all_bare']} of {threads * calls} calls bare, {root['cost_percent']} %; "
        case.check(f"{mode}: {root}", root["calls"] > 0 and (root["bare"] < 10) == (root["bare_error_ns"] == 0))
        exact = ("Subgraph.inner", "Subgraph.recursive", "Subgraph$Circle.area", "Subgraph.heavy")
        for name in exact:
            each = INSIDE[name][0]
            case.check(f"{mode}: {name}: {found.get(name)} of {root['calls']} calls",
                       each * (root["calls"] - threads) <= found.get(name, 0) <= each * root["calls"])
        charged = recording.report()["sum"][f"{time}_ns"] / root["calls"]
        if root["cost_percent"] > 100:
            case.check(f"{mode}: charged {charged:.0f} ns for a call: {root}", 0.9 < charged / (root["bare_ns"] / root["bare"]) < 1.1)


def ahead(case):
    """A program that has run for a while: what the JVM has seen methods call is instrumented with them. Fewer batches, all calls."""
    calls, threads, batches = 40000, 2, {}
    for far in ("off", "near", "far"):
        for bare in ("250ms", "1s", "3s"):
            recording = case.run(f"subgraph:root=Subgraph.task,bare={bare},ahead={far}", "Subgraph", threads, calls)
            facts = case.check_status(recording)
            root, batches[far] = facts["roots"][0], facts["batches"]
            found = collections.Counter()
            for row in recording.report()["rows"]:
                found[f"{row['class'].removeprefix('app/')}.{row['method']}"] += row["self"]["calls"]
            for name, (each, _) in INSIDE.items():
                case.check(f"ahead={far}: {name}: {found[name]} of {root['calls']} calls",
                           each * (root["calls"] - threads) <= found[name] <= each * root["calls"])
            if root["all_bare"] > 2000:  # on a machine that has other work, the JVM knows little so soon
                break
    case.note = f"batches: {batches}"
    case.check(case.note, batches["near"] < batches["off"] and 4 * batches["far"] < 3 * batches["off"])


def handles(case):
    """Code of C1 without counters, into which the JVM has inlined a method through a handle, does not tell that it has: it would
    run on as it is when the method is changed, here for ever. That goes for what a root calls and for the root itself."""
    calls, threads = 40000, 2
    for level in (1, 2):
        for mode in ("subgraph:root=Subgraph.task,bare=250ms", "subgraph:root=Subgraph.task,bare=250ms,ahead=off"):
            recording = case.run(mode, "Subgraph", threads, calls, jvm=(f"-XX:TieredStopAtLevel={level}",))
            root = case.check_status(recording)["roots"][0]
            found = collections.Counter()
            for row in recording.report()["rows"]:
                found[f"{row['class'].removeprefix('app/')}.{row['method']}"] += row["self"]["calls"]
            for name in sorted(HANDLES):
                case.check(f"{mode}, level {level}: {name}: {found[name]} of {root['calls']} calls",
                           root["calls"] - threads <= found[name] <= root["calls"])


def threads(case):
    """64 threads, without and with times: not one call is lost."""
    calls = 100 if case.quick else 1000
    for mode in ("subgraph:root=Subgraph.task,time=off", "subgraph:root=Subgraph.task"):
        recording = case.run(mode, "Subgraph", 64, calls)
        case.check_calls(recording, INSIDE, 64 * calls, 64 * calls // 10)
        case.check_status(recording)


def eager(case):
    """Scheme A: the same calls, with more methods instrumented; what it cannot know is reflection and callbacks."""
    calls = 100
    recording = case.run("subgraph:root=Subgraph.task,scheme=a", "Subgraph", 1, calls)
    facts = case.check_status(recording)
    rows = {f"{row['class']}.{row['method']}": row["self"]["calls"] for row in recording.report()["rows"]}
    for name in INSIDE.keys() - NOT_EAGER:
        case.check(f"{name}: {rows.get('app/' + name)}", rows.get("app/" + name) == INSIDE[name][0] * calls)
    case.note = f"{facts['methods']} methods instrumented"
    case.check("what is never called is instrumented", facts["methods"] > len(rows))


def jdk_methods(case):
    """Methods of the JDK followed, and measured. Nobody waits for them, so what they call back may be found late."""
    calls = 100
    followed = case.run("subgraph:root=Subgraph.task,jdk=follow", "Subgraph", 2, calls)
    case.check_calls(followed, INSIDE, 2 * calls, 2 * calls // 10, late=LATE)
    facts = case.check_status(followed)
    case.check(f"followed: {facts['followed']}", facts["followed"] > 10)
    measured = case.run("subgraph:root=Subgraph.task,jdk=on", "Subgraph", 2, calls)
    rows = {f"{row['class']}.{row['method']}": row["self"]["calls"] for row in measured.report()["rows"]}
    case.check(f"methods of the JDK: {rows}", any(name.startswith("java/") for name in rows))
    case.check(f"ArrayList.sort: {rows.get('java/util/ArrayList.sort')}", rows.get("java/util/ArrayList.sort", 0) <= 2 * calls)


def other_clocks(case):
    """CPU time and bytecodes."""
    calls = 100
    recording = case.run("subgraph:root=Subgraph.task,time=cpu,bytecodes=on", "Subgraph", 1, calls)
    case.check_calls(recording, INSIDE, calls, calls // 10)
    report = recording.report()
    case.check(f"sum: {report['sum']}", report["sum"].get("cpu_ns", 0) > 0 and "wall_ns" not in report["sum"])
    bytecodes = {f"{row['class']}.{row['method']}": row["self"]["bytecodes"] for row in report["rows"]}
    case.check(f"leaf: {bytecodes['app/Subgraph.leaf']}", bytecodes["app/Subgraph.leaf"] == 6 * calls * 6)


def region(case):
    """The root alone: count, exceptions and a distribution, nothing below it."""
    calls = 1000
    recording = case.run("region:Subgraph.task", "Subgraph", 4, calls)
    facts = case.check_status(recording)
    root = facts["roots"][0]
    case.check(f"root: {root}", root["calls"] == 4 * calls and root["exceptions"] == 4 * calls // 10 and
               root["timed"] == 4 * calls and len(root["last"]) == 64)
    case.check(f"rows: {recording.report()['rows']}", len(recording.report()["rows"]) == 1)
    case.check(f"{facts['batches']} batches", facts["batches"] == 1)


def virtual_threads(case):
    if case.jdk.major < 21:
        case.note = "has none"
        return
    count = 2000 if case.quick else 20000
    recording = case.run("subgraph:root=SubgraphVirtual.task", "SubgraphVirtual", count)
    case.check_status(recording)
    rows = {row["method"]: row["self"]["calls"] for row in recording.report()["rows"]}
    case.check(f"{rows}", rows == {"task": count + 1, "leaf": 2 * (count + 1)})


def without_waiting(case):
    """Threads do not wait for their callees: first calls are missing, none is invented."""
    calls = 2000
    recording = case.run("subgraph:root=Subgraph.task,wait=off", "Subgraph", 2, calls)
    rows = {f"{row['class'].removeprefix('app/')}.{row['method']}": row["self"]["calls"]
            for row in recording.report()["rows"]}
    case.check("task", rows["Subgraph.task"] == 2 * calls)
    for name, (each, _) in INSIDE.items():
        case.check(f"{name}: {rows.get(name, 0)}", rows.get(name, 0) <= each * 2 * calls)


def collectors(case):
    """Where threads, objects and classes lie differently."""
    for jvm in (("-Xint",), ("-XX:TieredStopAtLevel=1",), ("-XX:+UseSerialGC", "-XX:-UseCompressedOops"),
                ("-Xverify:all",), ("-XX:+UseParallelGC", "-Xcomp") if not case.quick else ("-XX:+UseZGC",)):
        recording = case.run("subgraph:root=Subgraph.task", "Subgraph", 2, 50, jvm=jvm)
        case.check_calls(recording, INSIDE, 100, 10)


CASES = [calls_and_exceptions, distortion, bare, ahead, handles, threads, eager, jdk_methods, other_clocks, region, virtual_threads,
         without_waiting, collectors]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sonde", nargs="?", default=ROOT / "build/dev/sonde", type=pathlib.Path)
    parser.add_argument("--cases", default="")
    parser.add_argument("--jdk", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--work", default=ROOT / "build/subgraph", type=pathlib.Path)
    arguments = parser.parse_args()
    jdks = find_jdks()
    if not arguments.sonde.exists() or not jdks:
        print("sonde or a JDK is missing", file=sys.stderr)
        return 77
    arguments.sonde = arguments.sonde.resolve()
    arguments.work.mkdir(parents=True, exist_ok=True)
    compile_programs(arguments.work, jdks, SOURCES, "classes")
    failed = False
    for jdk in jdks:
        if arguments.jdk and str(jdk.major) not in arguments.jdk.split(","):
            continue
        for function in CASES:
            if arguments.cases and function.__name__ not in arguments.cases.split(","):
                continue
            case = Case(arguments, jdk)
            try:
                function(case)
            except Failed as error:
                case.problems.append(str(error))
            print(f"JDK {jdk.major:<3} {function.__name__:<22} {'FAILED' if case.problems else 'ok':<7} {case.note}",
                  flush=True)
            for problem in case.problems[:20]:
                print(f"    {problem}", flush=True)
            failed |= bool(case.problems)
            remove(case.out)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
