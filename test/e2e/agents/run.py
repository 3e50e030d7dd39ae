#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [SONDE]: profiling agents written against sonde-api.jar: the examples of docs/, and agents that misbehave.

  --case A,B       only these
  --quick          fewer configurations, as with the other tests
  --workloads DIR  run the examples on the workloads h2 and vthreads, nothing else
Exit code 1: a case failed. 77: something needed is not built.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "test/apps"), str(ROOT / "test/e2e/stress")]

import build  # noqa: E402  test/apps
import recordings  # noqa: E402  test/e2e/stress

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = ROOT / "docs/examples"
FAILED, OFF = "AgentFailures", "AgentSwitchedOff"


class Failed(Exception):
    pass


def expect(what, actual, expected):
    if actual != expected:
        raise Failed(f"{what}: {actual!r} instead of {expected!r}")


class Bench:
    """What all cases share: agents, programs, JDKs, and how to record."""

    def __init__(self, arguments):
        self.sonde, self.work, self.quick = arguments.sonde, arguments.work, arguments.quick
        self.jdks = build.find_jdks()
        self.api = self.sonde.parent / "sonde-api.jar"
        self.agents, self.programs, self.programs21 = self.work / "agents.jar", self.work / "programs", self.work / "programs21"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        sources = {source.stem: source for source in (HERE / "java").glob("*.java")}
        agents = [sources[name] for name in ("Misuse", "NotAnAgent", "Hidden")]
        self.compile(self.jdks[0], 17, self.work / "agents", *sorted(EXAMPLES.glob("*.java")), *agents)
        self.run([self.jdks[0].home / "bin/jar", "--create", "--file", self.agents, "-C", self.work / "agents", "."])
        self.compile(self.jdks[0], 17, self.programs, sources["Work"], sources["Printing"])
        if self.jdks[-1].major >= 21:
            self.compile(self.jdks[-1], 21, self.programs21, sources["Work"], sources["VirtualWork"])

    def compile(self, jdk, release, folder, *sources):
        self.run([jdk.home / "bin/javac", "-g", "--release", release, "-cp", self.api, "-d", folder, *sources])

    def run(self, command):
        done = recordings.execute(command)
        if done.code != 0:
            raise Failed(f"{command}: {done.stderr}")
        return done

    def java(self, jdk, program, *arguments, options=()):
        classes = self.programs21 if program == "VirtualWork" else self.programs
        return [jdk.java, "-Xmx256m", *options, "-cp", classes, program, *arguments]

    def record(self, command, mode, *options, cwd=None):
        """What one run printed, its contexts, and the counters of the recording."""
        out = self.work / "x.sonde"
        recordings.remove(out)
        ended = recordings.execute([self.sonde, "run", "--mode", mode, *options, "-o", out, "--", *command], cwd=cwd)
        exported = self.run([self.sonde, "export", out, "--to", "jsonl"])
        status = json.loads(self.run([self.sonde, "status", out, "--json"]).stdout)
        counters = {counter["name"]: counter["value"] for counter in status["counters"]}
        return ended, [json.loads(line) for line in exported.stdout.splitlines()], counters

    def agent(self, name, path=None):
        return ["--agent-class", name, "--agent-path", path or self.agents]


def total(profile, metric, wanted=lambda context: True):
    return sum(context[metric] for context in profile if wanted(context))


def of_program(profile):
    """{(thread, stack): numbers} without what is not the program's."""
    found = collections.Counter()
    for context in profile:
        if not context["stack"] or context["stack"][0].startswith(("Work", "Virtual", "Printing")):
            for metric in ("calls", "bytecodes", "samples"):
                found[context["thread"], tuple(context["stack"]), metric] += context.get(metric) or 0
    return found


def samples_tree(bench):
    """The tree is the same on all JDKs, interpreted and compiled, and has all bytecodes; our samples do not notice it."""
    trees = set()
    for jdk in bench.jdks:
        for config in ([], ["-Xint"]):
            _, alone, _ = bench.record(bench.java(jdk, "Work", options=config), "bytecode:granularity=500", "--no-jdk")
            options = [*config, "-Dsamples.granularity=293"]
            mode = "bytecode:granularity=500"
            ended, profile, counters = bench.record(
                bench.java(jdk, "Work", options=options), mode, "--no-jdk", *bench.agent("SamplesTree"), cwd=bench.work
            )
            expect("complaints", ended.complaints(), "")
            expect("counters", {name for name in counters if name.startswith("Agent")}, set())
            expect("our samples beside the agent", of_program(profile), of_program(alone))
            lines = (bench.work / "samples.txt").read_text().splitlines()
            trees.add("\n".join(lines[1:]))
            bytecodes = int(lines[0].split()[1])
            if not 0 <= bytecodes - total(profile, "bytecodes") <= 100:  # main has not ended: what it does after System.exit
                raise Failed(f"{bytecodes} bytecodes, the recording has {total(profile, 'bytecodes')}")
    expect("different trees", len(trees), 1)
    if "burnFive" not in trees.pop():
        raise Failed("the tree has no samples of what executes most")


def top_ten(bench):
    """Every second and at the end; the last list agrees with the recording."""
    for jdk in bench.jdks:
        options = ["-Dtopten.granularity=1000000"]
        ended, profile, counters = bench.record(bench.java(jdk, "Work", "2500", options=options), "exact", *bench.agent("TopTen"))
        expect(f"counters ({ended.stderr[:300]})", {name for name in counters if name.startswith("Agent")}, set())
        lists = ended.complaints().split("--- top ten\n")[1:]
        if len(lists) < 2:  # two and the last one, but on a busy machine the first second is over before anything was counted
            raise Failed(f"{len(lists)} lists in 2.5 seconds: {ended.stderr}")
        for line in lists[-1].splitlines():
            bytecodes, calls, method = re.match(r"([\d.,]+) bytecodes +([\d.,]+) calls  (.*)", line.strip()).groups()
            if not method.startswith("Work.round") and not method.startswith("Work.burn"):
                continue
            of_method = [context for context in profile if context["stack"] and context["stack"][-1].replace("/", ".") == method.replace("/", ".")]
            expect(f"calls of {method}", int(re.sub(r"\D", "", calls)), total(of_method, "calls"))
            expect(f"bytecodes of {method}", int(re.sub(r"\D", "", bytecodes)), total(of_method, "bytecodes"))


def named_threads(bench):
    """The others are never sampled; what the named ones executed is all there."""
    for jdk in bench.jdks:
        command = bench.java(jdk, "Work", options=["-Dthreads.name=worker-[13]"])
        ended, profile, _ = bench.record(command, "bytecode", "--no-jdk", *bench.agent("NamedThreads"))
        _, exact, _ = bench.record(bench.java(jdk, "Work"), "exact", "--no-jdk")
        found = dict(re.findall(r"(\S+): 1 thread\(s\), ([\d.,]+) bytecodes", ended.complaints()))
        expected = {f"worker-{i}": total(exact, "bytecodes", lambda c, i=i: c["thread"] == f"worker-{i}") for i in (1, 3)}
        expect("threads", {name: int(re.sub(r"\D", "", number)) for name, number in found.items()}, expected)


def virtual_threads(bench):
    """Each virtual thread begins and ends; sampled and counted."""
    jdk = bench.jdks[-1]
    if jdk.major < 21:
        return
    threads = 500 if bench.quick else 20000
    command = bench.java(jdk, "VirtualWork", threads, options=["-Dthreads.name="])
    plain = recordings.execute(command)
    ended, _, counters = bench.record(command, "bytecode", *bench.agent("NamedThreads"))
    expect("stdout", ended.stdout, plain.stdout)
    expect("exit code", ended.code, 0)
    expect("counters", {name for name in counters if name.startswith("Agent")}, set())
    if f": {threads} thread(s)" not in ended.stderr:
        raise Failed(f"not {threads} threads: {ended.stderr}")
    ended, profile, _ = bench.record(command, "exact", "--no-jdk", *bench.agent("TopTen"))
    expect("stdout", ended.stdout, plain.stdout)
    calls = total(profile, "calls", lambda context: context["stack"] and context["stack"][-1].startswith("Work.rounds("))
    expect("calls in the recording", calls, threads)
    if not re.search(rf"\b{threads * 10:,} calls  Work.round\(I\)I", ended.stderr.replace(".", ",").replace("Work,", "Work.")):
        raise Failed(f"not {threads * 10} calls of round: {ended.stderr}")


# What the agent does: (what we say of it, once; counters; is it called until the end)
MISUSES = {
    "nothing": (None, {}, True),
    "throws": ("threw java.lang.IllegalStateException: as always at Misuse", {FAILED: 10, OFF: 1}, False),
    "throws an error": ("threw java.lang.StackOverflowError", {FAILED: 10, OFF: 1}, False),
    "register throws": ("threw java.lang.IllegalStateException: not this one", {FAILED: None}, True),
    "factory throws": ("threw java.lang.IllegalStateException", {FAILED: 10, OFF: 1}, False),
    "zero": ("returned 0 as the granularity", {FAILED: 10, OFF: 1}, False),
    "negative": ("returned -7 as the granularity", {FAILED: 10, OFF: 1}, False),
    "waits": ("did not return within 1000 ms", {OFF: 1}, False),
    "loops": ("did not return within 1000 ms", {OFF: 1}, False),
    "starts threads": (None, {}, True),
    "works": (None, {}, True),
    "looks too late": (None, {}, True),
    "shutdown blocks": ("did not return from shutdown() in time", {OFF: 1}, True),
    "constructor throws": ("its constructor threw java.lang.IllegalStateException: no", {OFF: 1}, False),
    "constructor blocks": ("did not return within 1000 ms", {OFF: 1}, False),
}


def misuse(bench):
    """Whatever an agent does, the program and the recording are the same, and it is said what happened."""
    for number, jdk in enumerate(bench.jdks):
        plain = recordings.execute(bench.java(jdk, "Work"))
        for mode in ("bytecode:granularity=500", "exact"):
            _, alone, _ = bench.record(bench.java(jdk, "Work"), mode, "--no-jdk")
            for index, name in enumerate(MISUSES):
                if bench.quick and (index + number) % 2 == (mode == "exact"):
                    continue  # half of them here, the other half on the other JDK
                one_misuse(bench, jdk, mode, name, plain, alone)


def one_misuse(bench, jdk, mode, name, plain, alone):
    said, counted, is_called = MISUSES[name]
    if name == "factory throws" and mode == "exact":
        return  # methods are not looked at
    where = f"{name}, {mode}, JDK {jdk.major}"
    command = bench.java(jdk, "Work", options=[f"-Dmisuse={name}"])
    ended, profile, counters = bench.record(command, mode, "--no-jdk", "--agent-limit", "1s", *bench.agent("Misuse"))
    expect(f"{where}: outcome", (ended.code, ended.stdout), (plain.code, plain.stdout))
    expect(f"{where}: recording", of_program(profile), of_program(alone))
    ours = {counter: value for counter, value in counters.items() if counter.startswith("Agent")}
    if mode == "exact" and FAILED in counted:  # reports are too rare here for ten failures
        expect(f"{where}: failures", 1 <= ours[FAILED] <= 10, True)
        return expect(f"{where}: what we say", said in ended.stderr, True)
    expect(f"{where}: counters", {c: counted.get(c) and v for c, v in ours.items()}, counted)
    words = [line for line in ended.stderr.splitlines() if "profiling agent" in line]
    expect(f"{where}: what we say", [said in line for line in words].count(True) if said else len(words), 1 if said else 0)
    calls = re.findall(r"Misuse: (\d+) calls", ended.stderr)
    if (len(calls) == 1) != is_called or (is_called and int(calls[0]) < 5):
        raise Failed(f"{where}: called {calls}")


def locks(bench):
    """An agent that waits for a lock of the program's thread that waits for the agent: it is switched off."""
    for jdk in bench.jdks:
        plain = recordings.execute(bench.java(jdk, "Printing"))
        command = bench.java(jdk, "Printing", options=["-Dmisuse=prints"])
        ended, _, counters = bench.record(command, "bytecode", "--agent-limit", "1s", *bench.agent("Misuse"))
        lines = [line for line in ended.stdout.splitlines() if line != "agent"]
        expect("lines", lines, plain.stdout.splitlines())
        expect("exit code", ended.code, 0)
        expect("switched off", counters.get(OFF), 1)


def errors(bench):
    """What is wrong, said clearly. What can be known before, before."""
    command = bench.java(bench.jdks[0], "Work")
    usage = {
        "belong together": ["--agent-class", "SamplesTree"],
        "does not exist": bench.agent("SamplesTree", bench.work / "no.jar"),
        "needs --mode bytecode or --mode exact": ["--mode", "exact:flat", *bench.agent("SamplesTree")],
        "takes a time such as": ["--agent-limit", "soon", *bench.agent("SamplesTree")],
    }
    for words, options in usage.items():
        ended = recordings.execute([bench.sonde, "run", *options, "-o", bench.work / "x.sonde", "--", *command])
        expect(f"{options}: exit code, stdout", (ended.code, ended.stdout), (2, ""))
        if words not in ended.stderr:
            raise Failed(f"{options}: {ended.stderr}")
    not_a_jar = bench.work / "not-a.jar"
    not_a_jar.write_text("this is not a jar")
    plain = recordings.execute(command)
    loading = {
        "is not in what --agent-path names": bench.agent("NoSuchAgent"),
        "is not in what --agent-path names ": bench.agent("SamplesTree", not_a_jar),
        "does not implement org.sonde.api.SamplingProfiler": bench.agent("NotAnAgent"),
        "does not implement org.sonde.api.SamplingProfiler, which --mode bytecode needs": bench.agent("TopTen"),
        "is not a public class with a public constructor without parameters": bench.agent("Hidden"),
    }
    for words, options in loading.items():
        ended, _, counters = bench.record(command, "bytecode", *options)
        expect(f"{options}: outcome", (ended.code, ended.stdout), (plain.code, plain.stdout))
        expect(f"{options}: counters", counters.get(OFF), 1)
        if words.strip() not in ended.stderr:
            raise Failed(f"{options}: {ended.stderr}")


def workloads(bench, folder):
    """The examples on real programs: right results, all agents alive at the end."""
    for jdk in bench.jdks:
        for workload in ("h2", "vthreads"):
            if workload == "vthreads" and jdk.major < 21:
                continue  # the workload needs virtual threads
            for agent, mode in (("SamplesTree", "bytecode"), ("NamedThreads", "bytecode"), ("TopTen", "exact")):
                workload_with(bench, folder, jdk, workload, agent, mode)


def workload_with(bench, folder, jdk, workload, agent, mode):
    out = bench.work / "x.sonde"
    recordings.remove(out)
    environment = {
        **os.environ,
        "JAVA_HOME": str(jdk.home),
        "WL_PREFIX": f"{bench.sonde} run --mode {mode} -o {out} --agent-class {agent} --agent-path {bench.agents} --",
        "JAVA_OPTS": f"-Dsamples.file={bench.work}/samples.txt -Dthreads.name=.*",
    }
    start = time.monotonic()
    ended = recordings.execute([folder / "run.sh", workload, "small"], env=environment, timeout=600)
    summary = ended.stdout.strip().splitlines()[-1]
    if ended.code != 0 or not summary.endswith(" ok"):
        raise Failed(f"{workload} with {agent} on JDK {jdk.major}: {ended.code} {summary} {ended.stderr[-2000:]}")
    status = json.loads(bench.run([bench.sonde, "status", out, "--json"]).stdout)
    expect("counters", [c for c in status["counters"] if c["name"].startswith("Agent")], [])
    print(f"    {workload} with {agent} ({mode}) on JDK {jdk.major}: {time.monotonic() - start:.1f} s, ok", flush=True)


CASES = {case.__name__: case for case in (samples_tree, top_ten, named_threads, virtual_threads, misuse, locks, errors)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sonde", nargs="?", type=pathlib.Path, default=ROOT / "build/dev/sonde")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/agents")
    parser.add_argument("--case")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--workloads", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.sonde, arguments.work = arguments.sonde.resolve(), arguments.work.resolve()
    if not arguments.sonde.exists() or not build.find_jdks():
        print(f"run: missing: {arguments.sonde} or a JDK; build it first", file=sys.stderr)
        return 77
    bench = Bench(arguments)
    if arguments.workloads:
        cases = {"workloads": lambda bench: workloads(bench, arguments.workloads)}
    else:
        cases = {name: CASES[name] for name in (arguments.case.split(",") if arguments.case else CASES)}
    failed = 0
    for name, case in cases.items():
        start = time.monotonic()
        try:
            case(bench)
            verdict = "ok"
        except (Failed, recordings.Failed) as error:
            verdict, failed = f"FAILED: {error}", failed + 1
        print(f"{name:16} {time.monotonic() - start:6.1f} s  {verdict}", flush=True)
    shutil.rmtree(arguments.work, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
