#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py SONDE WORK: exports recordings and compares what the programs that read each format say with `--to jsonl`.

One recording has counts, another times and samples; both come from small Java programs. The third has names that are
not those of methods. Programs that are not
installed are left out with a sentence. Those that come from npm are asked only with --web (`./dev web`).
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
# Of which formats with one value per stack tell.
WORK = {"exact": "bytecodes", "time": "cpu_ns", "names": "samples"}
# What the JVM calls its own code.
NAMES = "main;Spin.main;Spin.text 300\nmain;Spin.main;[StubRoutines (initial stubs)] 200\nmain;[libc.so.6 (2.36)] 100\n"
UNITS = {"cpu_ns": "nanoseconds", "wall_ns": "nanoseconds"}


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
    """java/util/Map.get(Ljava/lang/Object;)V: java.util.Map.get; [StubRoutines (1)], which is no method: the same"""
    name = full_name if full_name.startswith("[") else full_name.split("(")[0]
    return name.replace("/", ".")


def equal(what, actual, expected):
    if actual == expected:
        return
    keys = [k for k in set(actual) | set(expected) if actual.get(k) != expected.get(k)]
    lines = "\n".join(f"  {k}: {actual.get(k)} instead of {expected.get(k)}" for k in sorted(keys, key=str)[:10])
    raise AssertionError(f"{what}: {len(keys)} differ\n{lines}")


class Recording:
    """What a recording holds according to `--to jsonl`: the other formats have to say the same."""

    def __init__(self, kind, sonde, path, work):
        self.kind, self.sonde, self.path, self.work = kind, sonde, path, work
        self.contexts = [json.loads(line) for line in self.export("jsonl").read_text().splitlines()]
        self.metrics = [key for key in self.contexts[0] if key not in ("thread", "stack")]
        self.work_metric = WORK[kind]

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
            values = sums.setdefault(key, [0] * len(self.metrics))
            for i, metric in enumerate(self.metrics):
                values[i] += context[metric]
        return {k: tuple(v) for k, v in sums.items()}

    def in_thread(self, metric, thread):
        """Self values by method."""
        return {name: value for (t, name), value in self.self_by_method(metric, threads=True).items() if t == thread}


def check_pprof(recording):
    go = shutil.which("go")
    if not go:
        raise Skipped("go is not installed (Debian: golang-go)")
    goroot = pathlib.Path(run(go, "env", "GOROOT").strip())
    tools = list(goroot.glob("pkg/tool/*/pprof"))
    pprof = [tools[0]] if tools else [go, "tool", "pprof"]
    text = run(*pprof, "-raw", recording.export("pprof"))
    types = re.search(r"^Samples:\n(.*)$", text, re.M).group(1).split()
    assert [t.split("[")[0] for t in types] == [f"{m}/{UNITS.get(m, 'count')}" for m in recording.metrics], types
    assert types[recording.metrics.index(recording.work_metric)].endswith("[dflt]"), types
    functions = {}
    for number, name in re.findall(r"^ +(\d+): 0x0 (?:M=\d+ )?(\[.*?\]|\S+)", text.split("\nLocations\n")[1], re.M):
        functions[number] = name
    samples = {}
    for values, ids, thread in re.findall(r"^ *([\d ]+): ([\d ]+?) *\n +thread:\[(.*)\]$", text.split("\nLocations\n")[0], re.M):
        key = (thread, *(functions[i] for i in reversed(ids.split())))
        sums = samples.setdefault(key, [0] * len(recording.metrics))
        for i, value in enumerate(values.split()):
            sums[i] += int(value)
    equal("pprof -raw", {k: tuple(v) for k, v in samples.items()}, recording.by_stack())
    metric = next(m for m in recording.metrics if m not in UNITS)  # times are shown rounded
    top = run(*pprof, "-top", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0", f"-sample_index={metric}", recording.work / "out.pprof")
    rows = re.findall(r"^ *(\d+) +\S+% +\S+% +\d+ +\S+% +(.+)$", top, re.M)
    equal("pprof -top", {name: int(flat) for flat, name in rows if flat != "0"}, recording.self_by_method(metric))


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
            key = (values["eventThread"]["javaName"], *reversed(names_of(values["stackTrace"])))
            sums = stacks.setdefault(key, [0] * len(recording.metrics))
            for i, metric in enumerate(recording.metrics):
                sums[i] += values[metric]
        equal("jfr print", {k: tuple(v) for k, v in stacks.items()}, recording.by_stack())
        summary = dict(re.findall(r"^ (\S+) +(\d+) +\d+", run(jfr, "summary", file), re.M))
        assert int(summary["sonde.Context"]) == len(events), summary
        samples = json.loads(run(jfr, "print", "--json", "--events", "jdk.ExecutionSample", "--stack-depth", "1", file))
        tops = collections.Counter(names_of(e["values"]["stackTrace"])[0] for e in samples["recording"]["events"])
        # Samples are written one by one, anything else as shares of the work.
        if "samples" in recording.metrics:
            equal("execution samples", dict(tops), recording.self_by_method("samples"))
        else:
            total = sum(recording.self_by_method(recording.work_metric).values())
            assert tops.total() == min(total, total // -(-total // 10_000)), total
        if "view" in run(jfr, "help"):  # from JDK 21 on
            view = run(jfr, "view", "--width", "200", "--truncate", "beginning", "hot-methods", file)
            rows = re.findall(r"^(\S.*)\(.*?\)? +(\d+) +[\d.]+%$", view, re.M)
            shown = {name.removeprefix("."): int(count) for name, count in rows}  # of no class: nothing before the dot
            assert shown and shown == {name: tops[name] for name in shown}, view


def names_of(stack):
    """The methods of a stack that `jfr print --json` prints, innermost first."""
    names = []
    for frame in stack["frames"]:
        cls = frame["method"]["type"]["name"].replace("/", ".")
        names.append(f"{cls}.{frame['method']['name']}" if cls else frame["method"]["name"])
    return names


def check_csv(recording):
    with open(recording.export("csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    for metric in recording.metrics:
        sums = collections.Counter()
        for row in rows:
            sums[f"{row['class']}.{row['method']}" if row["class"] else row["method"]] += int(row[f"{metric}_self"])
        equal(f"csv {metric}", {k: v for k, v in sums.items() if v}, recording.self_by_method(metric))


def check_hprof_text(recording):
    metric = "samples" if "samples" in recording.metrics else recording.work_metric
    text = recording.export("hprof-text").read_text()
    total = int(re.search(r"^CPU SAMPLES BEGIN \(total = (\d+)\)", text, re.M).group(1))
    rows = re.findall(r"^ *(\d+) +([\d.]+)% +([\d.]+)% +(\d+) +(\d+) (.+)$", text, re.M)
    sums = collections.Counter()
    for rank, _, _, count, trace, name in rows:
        sums[name.replace("/", ".")] += int(count)
        top = re.search(rf"^TRACE {trace}: \(thread=\d+\)\n\t{re.escape(name)}\(", text, re.M)
        assert top, (trace, name)
    equal("hprof-text", dict(sums), recording.self_by_method(metric))
    assert total == sum(sums.values()) and [int(r[0]) for r in rows] == list(range(1, len(rows) + 1))
    if recording.kind == "time":
        text = recording.export("hprof-text", "--metric", "wall_ns").read_text()
        total = int(re.search(r"^CPU TIME \(ms\) BEGIN \(total = (\d+)\)", text, re.M).group(1))
        assert total == round(sum(recording.self_by_method("wall_ns").values()) / 1e6), total


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
        threads = firefox(cli, environment, "profile", "info", "--all")
        main = re.search(r"(t-\d+): main\b", threads).group(1)
        text = firefox(cli, environment, "thread", "functions", "--thread", main, "--limit", "100000")
    finally:
        daemon.terminate()
        daemon.wait()
    expected = recording.in_thread(recording.work_metric, "main")
    rows = re.findall(r"^ +f-\d+\. (.+?)(?:\(.*\))? - self: ([\d.,]+)(ms|μs|s)? ", text, re.M)
    sums = collections.Counter()
    for name, value, unit in rows:
        sums[name] += float(value.replace(",", "")) * {"μs": 1e3, "ms": 1e6, "s": 1e9}.get(unit, 1)
    if recording.kind == "exact":
        equal("firefox", {k: int(v) for k, v in sums.items() if v}, expected)
    else:  # it shows times rounded
        assert {k for k, v in sums.items() if v} == set(expected), text
        wrong = {k: (sums[k], v) for k, v in expected.items() if abs(sums[k] - v) > max(1e6, v / 100)}
        assert not wrong, wrong


def speedscope(recording, file):
    """What its viewer shows: {profile: {function: self value}}."""
    if not shutil.which("node"):
        raise Skipped("node is not installed")
    result = subprocess.run(["node", str(HERE / "speedscope.mjs"), str(file)], capture_output=True, text=True, timeout=200)
    if result.returncode == 77:
        raise Skipped(result.stdout.strip())
    assert result.returncode == 0, result.stdout + result.stderr
    shown = {}
    for profile, functions in json.loads(result.stdout).items():
        sums = shown[profile] = collections.Counter()
        for name, value in functions.items():
            sums[dotted(name)] += value
    return shown


def check_speedscope(recording):
    file = recording.export("speedscope")
    document = json.loads(file.read_text())
    assert document["profiles"][document["activeProfileIndex"]]["name"] == f"main: {recording.work_metric}"
    shown = speedscope(recording, file)
    for metric in recording.metrics:
        if metric in UNITS:
            continue  # shown rounded
        sums = {k: v for k, v in shown[f"main: {metric}"].items() if v}
        equal(f"speedscope {metric}", sums, recording.in_thread(metric, "main"))


def check_collapsed_in_speedscope(recording):
    metric = "samples" if "samples" in recording.metrics else "calls"
    shown = speedscope(recording, recording.export("collapsed", "--metric", metric))
    assert len(shown) == 1, list(shown)
    sums = {k: v for k, v in next(iter(shown.values())).items() if v}
    equal("collapsed in speedscope", sums, {k.replace(" ", "_"): v for k, v in recording.self_by_method(metric).items()})


def firefox(cli, environment, *command):
    """The answer of profiler-cli, as soon as its daemon is there."""
    for _ in range(60):
        result = subprocess.run(["node", cli, *command, "--session", "test"], env=environment, capture_output=True, text=True, timeout=60)
        if result.returncode == 0:
            return result.stdout
        time.sleep(1)
    raise AssertionError(f"profiler-cli {' '.join(command)}: {result.stderr}")


def without_spaces(stack):
    """As collapsed stacks have frames; the thread keeps its name."""
    return (stack[0], *(frame.replace(" ", "_") for frame in stack[1:]))


def check_collapsed(recording):
    for metric in recording.metrics:
        stacks = collections.Counter()
        for line in recording.export("collapsed", "--metric", metric).read_text().splitlines():
            stack, value = line.rsplit(" ", 1)
            stacks[tuple(stack.split(";"))] += int(value)
        place = recording.metrics.index(metric)
        expected = {without_spaces(k): v[place] for k, v in recording.by_stack().items() if v[place]}
        equal(f"collapsed {metric}", dict(stacks), expected)


def check_fixed_points(recording):
    """export, import, export: the same bytes."""
    for form, options in (("pprof", ()), ("jfr", ()), ("collapsed", ("--metric", recording.metrics[0]))):
        first = recording.export(form, *options).read_bytes()
        again = recording.work / f"again.{form}.sonde"
        run(recording.sonde, "import", recording.work / f"out.{form}", *options, "-o", again)
        second = recording.work / f"again.{form}"
        run(recording.sonde, "export", again, "--to", form, *options, "-o", second)
        assert second.read_bytes() == first, f"{form}: what was imported is exported differently"


def flight_events(jdk, file, event):
    text = run(jdk / "bin/jfr", "print", "--json", "--events", event, "--stack-depth", "512", file)
    return [event["values"] for event in json.loads(text)["recording"]["events"]]


def check_flight_recordings(recording):
    """Samples of execution and of allocation that the JDK itself recorded, imported, against `jfr print`."""
    for jdk in jdks():
        if not (jdk / "bin/jfr").exists():
            continue
        work = recording.work / jdk.name
        run(jdk / "bin/javac", "-d", work, HERE / "Spin.java")
        file = work / "spin.jfr"
        flags = f"-XX:StartFlightRecording=filename={file},settings=profile"
        run(jdk / "bin/java", "-Xmx128m", flags, "-cp", work, "Spin")
        run(recording.sonde, "import", file, "-o", work / "spin.sonde")

        def imported(metric):
            lines = run(recording.sonde, "export", work / "spin.sonde", "--to", "collapsed", "--metric", metric).splitlines()
            return {stack: int(value) for stack, value in (line.rsplit(" ", 1) for line in lines)}

        executed = collections.Counter()
        for values in flight_events(jdk, file, "jdk.ExecutionSample"):
            executed[";".join([values["sampledThread"]["javaName"], *reversed(names_of(values["stackTrace"]))])] += 1
        assert executed, "the JDK took no samples"
        equal(f"samples of {jdk.name}", imported("samples"), dict(executed))

        allocated, bytes_of_class = collections.Counter(), collections.Counter()
        for values in flight_events(jdk, file, "jdk.ObjectAllocationSample"):
            name = values["objectClass"]["name"].replace("/", ".")
            if name.startswith("["):
                continue  # `jfr` of one JDK writes arrays in another way than that of the next
            bytes_of_class[name] += values["weight"]
            if values["stackTrace"] is not None:
                stack = [values["eventThread"]["javaName"], *reversed(names_of(values["stackTrace"])), name]
                allocated[";".join(stack)] += values["weight"]
        assert allocated, "the JDK took no samples of allocations"
        stacks = {k: v for k, v in imported("allocated_bytes").items() if k in allocated}
        equal(f"allocations of {jdk.name}", stacks, dict(allocated))
        out = work / "sites.txt"
        run(recording.sonde, "export", work / "spin.sonde", "--to", "hprof-text", "--metric", "allocated_bytes", "-o", out)
        sites = collections.Counter()
        for row in re.findall(r"^ *\d+ +[\d.]+% +[\d.]+% +0 +0 +(\d+) +\d+ +\d+ (\S+)$", out.read_text(), re.M):
            if row[1] in bytes_of_class:
                sites[row[1]] += int(row[0])
        equal(f"sites of {jdk.name}", dict(sites), dict(bytes_of_class))


CHECKS = {
    "collapsed": check_collapsed,
    "csv": check_csv,
    "pprof": check_pprof,
    "hprof-text": check_hprof_text,
    "jfr": check_jfr,
    "fixed points": check_fixed_points,
}
ONCE = {"flight recordings": check_flight_recordings}  # the recording does not matter
WEB = {
    "firefox": check_firefox,
    "speedscope": check_speedscope,
    "collapsed in speedscope": check_collapsed_in_speedscope,
}


def recordings(sonde, work):
    jdk = jdks()[-1]
    classes = work / "classes"
    run(jdk / "bin/javac", "--release", "17", "-d", classes, ROOT / "test/apps/demo/Inventory.java", HERE / "Spin.java")
    for kind, options, program in (("exact", ("--no-jdk",), "demo.Inventory"), ("time", ("--mode", "cpu,wall"), "Spin")):
        folder = work / kind
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "recording.sonde"
        run(sonde, "run", *options, "-o", file, "--", jdk / "bin/java", "-Xmx256m", "-cp", classes, program)
        yield Recording(kind, sonde, file, folder)
    folder = work / "names"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "in.collapsed").write_text(NAMES)
    run(sonde, "import", folder / "in.collapsed", "-o", folder / "recording.sonde")
    yield Recording("names", sonde, folder / "recording.sonde", folder)


def succeeds(name, check, recording):
    try:
        check(recording)
        print(f"ok       {recording.kind:5} {name}", flush=True)
    except Skipped as reason:
        print(f"skipped  {recording.kind:5} {name}: {reason}", flush=True)
    except AssertionError as error:
        print(f"FAILED   {recording.kind:5} {name}: {error}", flush=True)
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sonde", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--only", choices={**CHECKS, **ONCE, **WEB})
    parser.add_argument("--web", action="store_true", help="also the programs that come from npm")
    arguments = parser.parse_args()
    wanted = {**CHECKS, **ONCE, **(WEB if arguments.web else {})}
    if arguments.only:
        wanted = {arguments.only: {**CHECKS, **ONCE, **WEB}[arguments.only]}
    results = []
    for recording in recordings(arguments.sonde.resolve(), arguments.work.resolve()):
        for name, check in wanted.items():
            if name not in ONCE or recording.kind == "exact":
                results.append(succeeds(name, check, recording))
    return 0 if all(results) else 1


sys.exit(main())
