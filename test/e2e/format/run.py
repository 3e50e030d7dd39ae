#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py SONDE WORK: exports a recording and compares what the programs that read each format say with `--to jsonl`.

Programs that are not installed are left out with a sentence; exit code 77 if all of them are. The recording comes from a
small Java program.
"""

import argparse
import collections
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
METRICS = ("calls", "bytecodes")


class Skipped(Exception):
    pass


def run(*command, **kwargs):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, **kwargs)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit code {result.returncode}\n{result.stderr}")
    return result.stdout


def jdks():
    lines = run(ROOT / "tools/find_jdks").splitlines()
    return [pathlib.Path(line.split(" ", 1)[1]) for line in lines]


def dotted(full_name):
    """java/util/Map.get(Ljava/lang/Object;)V: java.util.Map.get"""
    return full_name.split("(")[0].replace("/", ".")


def equal(what, actual, expected):
    if actual == expected:
        return
    keys = [k for k in set(actual) | set(expected) if actual.get(k) != expected.get(k)]
    lines = "\n".join(f"  {k}: {actual.get(k)} instead of {expected.get(k)}" for k in sorted(keys, key=str)[:10])
    raise AssertionError(f"{what}: {len(keys)} differ\n{lines}")


class Recording:
    """What a recording holds according to `--to jsonl`: the other formats have to say the same."""

    def __init__(self, sonde, path, work):
        self.sonde, self.path, self.work = sonde, path, work
        self.contexts = [json.loads(line) for line in self.export("jsonl").read_text().splitlines()]

    def export(self, form, *options):
        out = self.work / f"out.{form}"
        run(self.sonde, "export", self.path, "--to", form, *options, "-o", out)
        return out

    def self_by_method(self, metric, threads=False):
        sums = collections.Counter()
        for context in self.contexts:
            name = dotted(context["stack"][-1])
            sums[(context["thread"], name) if threads else name] += context[metric]
        return {k: v for k, v in sums.items() if v}

    def by_stack(self):
        sums = {}
        for context in self.contexts:
            key = (context["thread"], *map(dotted, context["stack"]))
            values = sums.setdefault(key, [0] * len(METRICS))
            for i, metric in enumerate(METRICS):
                values[i] += context[metric]
        return {k: tuple(v) for k, v in sums.items()}


def check_pprof(recording):
    go = shutil.which("go")
    if not go:
        raise Skipped("go is not installed (Debian: golang-go)")
    goroot = pathlib.Path(run(go, "env", "GOROOT").strip())
    tools = list(goroot.glob("pkg/tool/*/pprof"))
    pprof = [tools[0]] if tools else [go, "tool", "pprof"]
    text = run(*pprof, "-raw", recording.export("pprof"))
    types = re.search(r"^Samples:\n(.*)$", text, re.M).group(1).split()
    assert [t.split("[")[0] for t in types] == [f"{m}/count" for m in METRICS], types
    functions = {}
    for number, name in re.findall(r"^ +(\d+): 0x0 (?:M=\d+ )?(\S+)", text.split("\nLocations\n")[1], re.M):
        functions[number] = name
    samples = {}
    for values, ids, thread in re.findall(r"^ *([\d ]+): ([\d ]+?) *\n +thread:\[(.*)\]$", text.split("\nLocations\n")[0], re.M):
        key = (thread, *(functions[i] for i in reversed(ids.split())))
        sums = samples.setdefault(key, [0] * len(METRICS))
        for i, value in enumerate(values.split()):
            sums[i] += int(value)
    equal("pprof -raw", {k: tuple(v) for k, v in samples.items()}, recording.by_stack())
    top = run(*pprof, "-top", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0", "-sample_index=calls", recording.work / "out.pprof")
    rows = re.findall(r"^ *(\d+) +\S+% +\S+% +\d+ +\S+% +(\S+)", top, re.M)
    equal("pprof -top", {name: int(flat) for flat, name in rows if flat != "0"}, recording.self_by_method("calls"))


def check_jfr(recording):
    found = [jdk / "bin/jfr" for jdk in jdks() if (jdk / "bin/jfr").exists()]
    if not found:
        raise Skipped("no JDK with the command jfr")
    file = recording.work / "out.jfr"
    recording.export("jfr")
    for jfr in found:
        events = json.loads(run(jfr, "print", "--json", "--events", "sonde.Context", "--stack-depth", "4096", file))["recording"]["events"]
        stacks = {}
        for event in events:
            values = event["values"]
            frames = [f["method"]["type"]["name"].replace("/", ".") + "." + f["method"]["name"] for f in values["stackTrace"]["frames"]]
            key = (values["eventThread"]["javaName"], *reversed(frames))
            sums = stacks.setdefault(key, [0] * len(METRICS))
            for i, metric in enumerate(METRICS):
                sums[i] += values[metric]
        equal("jfr print", {k: tuple(v) for k, v in stacks.items()}, recording.by_stack())
        summary = dict(re.findall(r"^ (\S+) +(\d+) +\d+", run(jfr, "summary", file), re.M))
        assert int(summary["sonde.Context"]) == len(events), summary
        samples = run(jfr, "print", "--events", "jdk.ExecutionSample", "--stack-depth", "1", file)
        total = sum(recording.self_by_method("bytecodes").values())
        assert samples.count("jdk.ExecutionSample") == min(total, total // -(-total // 10_000)), total


def check_csv(recording):
    with open(recording.export("csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    for metric in METRICS:
        sums = collections.Counter()
        for row in rows:
            sums[f"{row['class']}.{row['method']}"] += int(row[f"{metric}_self"])
        equal(f"csv {metric}", {k: v for k, v in sums.items() if v}, recording.self_by_method(metric))


def check_hprof_text(recording):
    text = recording.export("hprof-text").read_text()
    total = int(re.search(r"^CPU SAMPLES BEGIN \(total = (\d+)\)", text, re.M).group(1))
    rows = re.findall(r"^ *(\d+) +([\d.]+)% +([\d.]+)% +(\d+) +(\d+) (\S+)$", text, re.M)
    sums = collections.Counter()
    for rank, _, _, count, trace, name in rows:
        sums[name.replace("/", ".")] += int(count)
        top = re.search(rf"^TRACE {trace}: \(thread=\d+\)\n\t([^(\n]+)\(", text, re.M)
        assert top.group(1) == name, (trace, name)
    equal("hprof-text", dict(sums), recording.self_by_method("bytecodes"))
    assert total == sum(sums.values()) and [int(r[0]) for r in rows] == list(range(1, len(rows) + 1))


def check_firefox(recording):
    cli = HERE.parent / "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"
    if not cli.exists() or not shutil.which("node"):
        raise Skipped("profiler-cli is not installed (npm ci in test/e2e)")
    file = recording.work / "out.firefox.json"
    recording.export("firefox").rename(file)
    folder = recording.work / "firefox"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    # By `load` its daemon has half a second to start, which a busy machine does not always give.
    environment = {**os.environ, "HOME": str(folder), "PROFILER_CLI_SESSION_DIR": str(folder)}
    daemon = subprocess.Popen(
        ["node", cli, "--daemon", file, "--session", "test"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        text = firefox(cli, environment, "thread", "functions", "--limit", "100000")
    finally:
        daemon.terminate()
        daemon.wait()
    rows = re.findall(r"^ +f-\d+\. ([^(]+)\(.*\) - self: (\d+) ", text, re.M)
    sums = collections.Counter()
    for name, value in rows:
        sums[name] += int(value)
    equal("firefox", {k: v for k, v in sums.items() if v}, recording.self_by_method("bytecodes"))


def check_speedscope(recording):
    if not shutil.which("node"):
        raise Skipped("node is not installed")
    command = ["node", str(HERE / "speedscope.mjs"), str(recording.export("speedscope"))]
    result = subprocess.run(command, capture_output=True, text=True, timeout=200)
    if result.returncode == 77:
        raise Skipped(result.stdout.strip())
    assert result.returncode == 0, result.stdout + result.stderr
    shown = json.loads(result.stdout)
    for metric in METRICS:
        sums = collections.Counter()
        for name, value in shown[f"main: {metric}"].items():
            sums[name.split("(")[0]] += value
        equal(f"speedscope {metric}", {k: v for k, v in sums.items() if v}, recording.self_by_method(metric))


def firefox(cli, environment, *command):
    """The answer of profiler-cli, as soon as its daemon is there."""
    for _ in range(60):
        result = subprocess.run(["node", cli, *command, "--session", "test"], env=environment, capture_output=True, text=True, timeout=60)
        if result.returncode == 0:
            return result.stdout
        time.sleep(1)
    raise AssertionError(f"profiler-cli {' '.join(command)}: {result.stderr}")


def check_collapsed(recording):
    for metric in METRICS:
        stacks = collections.Counter()
        for line in recording.export("collapsed", "--metric", metric).read_text().splitlines():
            stack, value = line.rsplit(" ", 1)
            stacks[tuple(stack.split(";"))] += int(value)
        place = METRICS.index(metric)
        equal(f"collapsed {metric}", dict(stacks), {k: v[place] for k, v in recording.by_stack().items() if v[place]})


def check_fixed_points(recording):
    """export, import, export: the same bytes."""
    for form, options in (("pprof", ()), ("jfr", ()), ("collapsed", ("--metric", "calls"))):
        first = recording.export(form, *options).read_bytes()
        again = recording.work / f"again.{form}.sonde"
        run(recording.sonde, "import", recording.work / f"out.{form}", *options, "-o", again)
        second = recording.work / f"again.{form}"
        run(recording.sonde, "export", again, "--to", form, *options, "-o", second)
        assert second.read_bytes() == first, f"{form}: what was imported is exported differently"


def check_flight_recordings(recording):
    """Execution samples that the JDK itself recorded, imported, against `jfr print`."""
    for jdk in jdks():
        if not (jdk / "bin/jfr").exists():
            continue
        work = recording.work / jdk.name
        run(jdk / "bin/javac", "-d", work, HERE / "Spin.java")
        file = work / "spin.jfr"
        flags = f"-XX:StartFlightRecording=filename={file},settings=profile"
        run(jdk / "bin/java", "-Xmx128m", flags, "-cp", work, "Spin")
        events = json.loads(run(jdk / "bin/jfr", "print", "--json", "--events", "jdk.ExecutionSample", "--stack-depth", "512", file))
        expected = collections.Counter()
        for event in events["recording"]["events"]:
            values = event["values"]
            frames = [f["method"]["type"]["name"].replace("/", ".") + "." + f["method"]["name"] for f in values["stackTrace"]["frames"]]
            expected[";".join([values["sampledThread"]["javaName"], *reversed(frames)])] += 1
        run(recording.sonde, "import", file, "-o", work / "spin.sonde")
        lines = run(recording.sonde, "export", work / "spin.sonde", "--to", "collapsed").splitlines()
        actual = {stack: int(value) for stack, value in (line.rsplit(" ", 1) for line in lines)}
        assert expected, "the JDK took no samples"
        equal(f"samples of {jdk.name}", actual, dict(expected))


CHECKS = {
    "collapsed": check_collapsed,
    "csv": check_csv,
    "pprof": check_pprof,
    "hprof-text": check_hprof_text,
    "jfr": check_jfr,
    "firefox": check_firefox,
    "speedscope": check_speedscope,
    "fixed points": check_fixed_points,
    "flight recordings": check_flight_recordings,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sonde", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--only", choices=CHECKS)
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    jdk = jdks()[-1]
    run(jdk / "bin/javac", "--release", "17", "-d", work / "classes", ROOT / "test/apps/demo/Inventory.java")
    file = work / "inventory.sonde"
    run(arguments.sonde, "run", "--no-jdk", "-o", file, "--", jdk / "bin/java", "-Xmx256m", "-cp", work / "classes", "demo.Inventory")
    recording = Recording(arguments.sonde, file, work)
    failed = False
    for name, check in CHECKS.items():
        if arguments.only not in (None, name):
            continue
        try:
            check(recording)
            print(f"ok       {name}")
        except Skipped as reason:
            print(f"skipped  {name}: {reason}")
        except AssertionError as error:
            print(f"FAILED   {name}: {error}")
            failed = True
    return 1 if failed else 0


sys.exit(main())
