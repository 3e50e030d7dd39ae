#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [SONDE]: are samples right, complete and harmless? Shares known by construction, states known by name, names of
classes that are gone, virtual threads, all modes in one recording, and everything at once for a while.

Exit code 1: a case failed. 77: something needed is not built. A case is a function of a screen at most; all of them use
what stands above them, so that they are in one file, however many they become.

  --cases A,B   --jdk 17,25     only these
  --quick       short runs, for every change; beside other tests chance has its part in them, so that a case that finds something
                wrong is run once more, and fails if it finds something again. A program that ends as it should not fails at once.
  --seconds N   how long `churn` runs (default 20, with --quick 6)
  --cases soak  sampling that starts and stops all the time; --seconds is how long for each JDK
  --faults      the stress with the agent whose walker reads wrong addresses now and then
"""

import argparse
import json
import math
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "stress"))

from recordings import ROOT, Failed, Recording, compile_programs, execute, find_jdks, remove  # noqa: E402

SOURCES = ROOT / "test/apps/sampler"
SHARES = {"ten": 10, "twenty": 20, "thirty": 30, "forty": 40}
# So sure that a test of a dozen shares fails by chance once in many thousand runs.
Z = 4.5


def wilson(part, whole, z=Z):
    p = part / whole
    centre, spread = p + z * z / (2 * whole), z * math.sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole))
    return (centre - spread) / (1 + z * z / whole), (centre + spread) / (1 + z * z / whole)


class Case:
    def __init__(self, arguments, jdk):
        self.sonde, self.jdk, self.quick, self.seconds = arguments.sonde, jdk, arguments.quick, arguments.seconds
        self.classes = arguments.work / "classes"
        self.out = arguments.work / f"{jdk.major}.sonde"
        self.problems, self.note = [], ""

    def check(self, what, holds):
        if not holds:
            self.problems.append(what)

    def run(self, mode, program, *words, jvm=(), options=(), environment=()):
        """Records a program that says "done" and returns what was recorded."""
        remove(self.out)
        done = execute([self.sonde, "run", "--mode", mode, *options, "-o", self.out, "--", self.jdk.home / "bin/java",
                        "-Xmx256m", *jvm, "-cp", self.classes, f"app.{program}", *words],
                       timeout=240 + 2 * self.seconds, env={**os.environ, **dict(environment)})
        if done.code != 0 or "done" not in done.stdout:
            raise Failed(f"{program} with {mode}: exit code {done.code}\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
        return Recording(self.sonde, self.out)

    def check_complete(self, status, percent):
        sampling = status["time_sampling"]
        samples = sampling["cpu_samples"] + sampling["wall_samples"]
        failed = 100 * sampling["failed_samples"] / max(1, samples)
        self.note += f" {samples} samples, {failed:.2f} % failed;"
        self.check(f"{failed:.2f} % of {samples} samples failed", samples > 0 and failed <= percent)
        self.check(f"damage: {status['damage']}", status["damage"]["count"] == 0)

    def check_named(self, status):
        """Every frame has a name, whatever became of its class since."""
        sampling = status["time_sampling"]
        samples = sampling["cpu_samples"] + sampling["wall_samples"]
        unloaded = {counter["name"]: counter["value"] for counter in status["counters"]}.get("FramesUnloaded", 0)
        self.note += f" {unloaded} frames without a name;"
        # Beside other tests the decoder may come too late once; longer runs ask for none.
        allowed = 1 if self.quick else 0
        self.check(f"{unloaded} frames of {samples} samples have no name", unloaded <= allowed)


def methods(report, key="total", value="samples"):
    """{Class.method: samples}"""
    sums = {}
    for row in report["rows"]:
        name = f"{row.get('class', '').removeprefix('app/')}.{row.get('method', '')}"
        sums[name] = sums.get(name, 0) + row[key].get(value, 0)
    return sums


def check_shares(case, recording):
    sums = methods(recording.report("--metric", "samples"))
    sampling = recording.status()["time_sampling"]
    # A signal of a timer stands for all samples since the kernel's last tick.
    independent = sampling["independent_cpu_samples"] / sampling["cpu_samples"]
    whole = sum(sums.get(f"Shares.{name}", 0) for name in SHARES)
    case.check(f"only {whole} samples in the methods that burn", whole >= 100)
    for name, percent in SHARES.items():
        part = sums.get(f"Shares.{name}", 0)
        low, high = wilson(part * independent, max(1, whole * independent))
        case.check(f"{name}: {part} of {whole} samples are not {percent} %", low <= percent / 100 <= high)


def shares(case, threads, depth, jvm=(), options=(), complete=0.5):
    recording = case.run("cpu:1ms", "Shares", (1 if case.quick else 6) if threads < 4 else 0.5, threads, depth, jvm=jvm, options=options)
    check_shares(case, recording)
    case.check_complete(recording.status(), complete)
    return recording


def case_alone(case):
    recording = shares(case, 1, 0)
    sampling = recording.status()["time_sampling"]
    case.check(f"walker {sampling['walker']}", sampling["walker"] == "vmstructs")
    # As many samples as milliseconds of CPU time.
    rate = sampling["samples_per_cpu_second"]
    wanted = (800, 1100) if sampling["cpu_clock"].startswith("perf") else (500, 1100)
    case.check(f"{rate:.0f} samples per CPU second", wanted[0] <= rate <= wanted[1])


def case_nested(case):
    recording = shares(case, 1, 150)
    sums = methods(recording.report("--metric", "samples"))
    case.check("not all stacks reach the thread's entry", sums.get("java/lang/Thread.run", 0) >= sums["Shares.burn"])


def case_deep(case):
    """Stacks that are deeper than a walk goes hang where the sample before was. On a busy machine a sample may come too late for
    that, so that the rest of a recursion is cut; it is not so each time."""
    for chances in (2, 1, 0):
        recording = case.run("cpu:1ms", "Deep", 50 if case.quick else 200, 10_000, jvm=["-XX:-Inline"])
        case.check_complete(recording.status(), 0.5)
        sums = methods(recording.report("--metric", "samples", "--thread", "deep"))
        counters, burnt = recording.counters(), sums.get("Deep.burn", 0)
        cut, dropped = counters.get("StacksCut", 0), counters.get("SamplesDropped", 0)
        case.note += f" {cut} of {burnt} deep stacks cut, {dropped} samples dropped;"
        case.check("not all stacks reach the thread's entry", sums.get("java/lang/Thread.run", 0) >= burnt - cut > 0)
        if cut <= 0.02 * burnt or dropped > 0:
            break
        case.check(f"{cut} of {burnt} stacks cut", chances > 0)
    if dropped == 0:
        case.check(f"{burnt} samples, {recording.status()['depth']} deep", burnt > 200 and recording.status()["depth"] > 9_000)


INLINED = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,app.Inlined::frame", "-XX:-UseOnStackReplacement"]


def check_inlined(case, what, recording):
    """Who was inlined is charged with what it did."""
    sums = methods(recording.report("--metric", "samples"), key="self")
    frame, inlined = sums.get("Inlined.frame", 0), sums.get("Inlined.inlined", 0)
    case.note += f" {what}: {frame} and {inlined} samples;"
    case.check(f"{what}: {frame} samples of the frame, {inlined} of what was inlined", inlined > 10 and inlined > frame / 2)


def case_inlined(case):
    """All instructions of compiled code are described, not only those at which it can be stopped: of a JVM that was started for it, and
    while somebody is attached."""
    check_inlined(case, "run", case.run("cpu:1ms", "Inlined", 2, jvm=INLINED))
    remove(case.out)
    command = [case.jdk.home / "bin/java", *INLINED, "-XX:+UnlockDiagnosticVMOptions", "-XX:+EnableDynamicAgentLoading", "-cp", case.classes,
               "app.Inlined", "60", "wait"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_for(lambda: describes_all(case.jdk, process.pid) == "false", 30)
        attach = [case.sonde, "attach", str(process.pid), "--mode", "cpu:1ms", "-o", case.out]
        with subprocess.Popen(attach, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as attached:
            describes = wait_for(lambda: describes_all(case.jdk, process.pid) == "true", 30)
            process.stdin.write(b"\n")
            process.stdin.flush()
            time.sleep(2 if case.quick else 5)
            attached.send_signal(signal.SIGINT)
        later = describes_all(case.jdk, process.pid)
        process.kill()
    case.check(f"DebugNonSafepoints while attached: {describes}, later: {later}", describes and later == "false")
    check_inlined(case, "attach", Recording(case.sonde, case.out))


def case_cold(case):
    """Processors are interrupted behind the instruction that took the time, not at it. Whoever it belongs to is charged."""
    recording = case.run("cpu:1ms", "Cold", 3 if case.quick else 8, jvm=["-XX:+UseSerialGC"])
    sums = methods(recording.report("--metric", "samples"), key="self")
    caller, inlined = sums.get("Cold.sum", 0), sums.get("Cold$Box.length", 0) + sums.get("Cold$Box.shift", 0)
    case.note = f" {inlined} samples of what loads, {caller} of its caller;"
    case.check(f"{inlined} samples of what loads, {caller} of its caller", inlined > caller / 3 and inlined > 10)


def wait_for(holds, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.2)
    return False


def describes_all(jdk, pid):
    flags = subprocess.run([jdk.home / "bin/jcmd", str(pid), "VM.flags", "-all"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"DebugNonSafepoints\s*=\s*(\w+)", flags)
    return found[1] if found else "unknown"


def case_threads(case):
    recording = shares(case, 8, 3)
    names = {row["name"] for row in recording.report("--by", "thread", "--metric", "samples")["rows"]}
    missing = {f"burner-{i}" for i in range(8)} - names
    case.check(f"no samples of {sorted(missing)}", not missing)


def case_native(case):
    """Time in native code: the shares of the Java methods that call it, and the functions themselves."""
    recording = case.run("cpu:1ms,native", "Shares", 1 if case.quick else 6, 1, 3, "native")
    check_shares(case, recording)
    case.check_complete(recording.status(), 0.5)
    sums = methods(recording.report("--metric", "samples"))
    # From the innermost loop of zlib out to the function that Java called.
    called = sums.get("java/util/zip/Deflater.deflateBytesBytes", 0)
    named = sums.get(".libzip.so: Java_java_util_zip_Deflater_deflateBytesBytes", 0)
    case.note += f" {named} of {called} samples below the native method's function;"
    case.check(f"only {named} of {called} samples are below the native method's function", named >= 0.95 * called > 100)


def case_kernel(case):
    """Time in system calls: the functions of the kernel lie above those of the program, where we may see them."""
    recording = case.run("cpu:1ms,native", "Shares", 1 if case.quick else 6, 1, 3, "kernel")
    check_shares(case, recording)
    status = recording.status()
    case.check_complete(status, 0.5)
    sums = methods(recording.report("--metric", "samples"))
    read = sum(samples for name, samples in sums.items() if name.endswith("FileDispatcherImpl.read0"))
    entered = sum(samples for name, samples in sums.items() if name.startswith(".kernel: entry_SYSCALL_64"))
    shown = sum(samples for name, samples in sums.items() if name.startswith(".kernel"))
    first = pathlib.Path("/proc/kallsyms").read_text(encoding="ascii").split(None, 1)[0]
    if status["time_sampling"]["cpu_clock"] not in ("perf", "perf-trap") or int(first, 16) == 0:
        case.note = " the kernel does not show its functions here;"
        return case.check(f"{shown} frames of a kernel that we may not see", shown == 0)
    case.note += f" {entered} of {read} samples in system calls;"
    return case.check(f"only {entered} of {read} samples are in a system call", entered >= 0.9 * read > 100)


def case_collector(case):
    """Threads of the JVM: as much time as the kernel says they used, and the JVM's own functions."""
    remove(case.out)
    done = execute([case.sonde, "run", "--mode", "cpu:1ms,native", "-o", case.out, "--", case.jdk.home / "bin/java", "-Xmx256m",
                    "-XX:+UseParallelGC", "-XX:ParallelGCThreads=2", "-cp", case.classes, "app.Garbage", 0.7 if case.quick else 5])
    said = re.search(r"collector (\d+) ms", done.stdout)
    if done.code != 0 or not said:
        raise Failed(f"Garbage: exit code {done.code}\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
    recording, truth = Recording(case.sonde, case.out), int(said[1])
    threads = {row["name"]: row["total"].get("samples", 0) for row in recording.report("--by", "thread", "--metric", "samples")["rows"]}
    sampled = sum(samples for name, samples in threads.items() if name.startswith("GC Thread"))
    case.note = f" {sampled} samples of {truth} ms in the collector;"
    # Threads of the JVM are looked for five times a second, and their stacks are found with their first samples.
    case.check(f"{sampled} samples for {truth} ms", abs(sampled - truth) <= max(0.15 * truth, 4.5 * math.sqrt(truth)) + 100)
    entered = methods(recording.report("--metric", "samples", "--thread", "GC Thread*")).get(".libjvm.so: thread_native_entry", 0)
    case.check(f"{entered} of {sampled} stacks reach the thread's entry", entered >= sampled - 100)


def case_late_name(case):
    """A thread of the JVM has the name of the one that made it until it runs, which on a busy machine takes time."""
    library = case.out.with_suffix(".so")
    include = case.jdk.home / "include"
    done = execute(["cc", "-shared", "-fPIC", "-I", include, "-I", include / "linux", "-pthread", "-o", library,
                    ROOT / "test/apps/native/late_name.c"])
    if done.code != 0:
        raise Failed(done.stderr)
    recording = case.run("cpu:1ms", "LateName", library, 600, 400, jvm=["--enable-native-access=ALL-UNNAMED"])
    threads = {row["name"]: row["total"].get("samples", 0) for row in recording.report("--by", "thread", "--metric", "samples")["rows"]}
    case.note += f" {threads.get('late name', 0)} samples of 400 ms;"
    case.check(f"samples by thread: {threads}", 300 <= threads.get("late name", 0) <= 450)


def case_interpreter(case):
    shares(case, 1, 20, jvm=["-Xint"], complete=1.0)


def case_stubs(case):
    """Stubs of the JVM have frames of many kinds, or none, and whoever called them is found all the same: from compiled code, whose
    callers have rbp for themselves, and from a method that stays interpreted, to whose frame rbp leads from anywhere."""
    for compiles_main in (True, False):
        jvm = ["-XX:TieredStopAtLevel=1", "-XX:+UseG1GC", *([] if compiles_main else ["-XX:-UseOnStackReplacement"])]
        recording = case.run("cpu:1ms", "Stubs", 2 if case.quick else 8, jvm=jvm)
        case.check_complete(recording.status(), 0.3)
        sums = methods(recording.report("--metric", "samples", "--thread", "main"))
        main = sums.get("Stubs.main", 0)
        for name in ("subtypes", "exceptions", "references"):
            case.check(f"{name}: {sums.get(f'Stubs.{name}', 0)} of {main} samples of main", sums.get(f"Stubs.{name}", 0) > 0.02 * main > 1)
        lost = max(sums.get("Stubs.thrown", 0) - sums.get("Stubs.exceptions", 0), 0)
        case.check(f"{lost} samples of a method without its caller", lost == 0)
        nowhere = sums.get(".[overflow]", 0)
        case.check(f"{nowhere} samples without any frame", nowhere == 0)


def case_agct(case):
    recording = shares(case, 1, 5, options=["--walker", "agct"], complete=2.0)
    case.check("walker", recording.status()["time_sampling"]["walker"] == "asyncgetcalltrace")


def case_turns(case):
    """Where samples are rare, threads that run for a moment at a time cost nothing more when they switch: they have no events. One event for
    all threads misses nothing when they switch."""
    for interval, clock in (("10ms", "auto"), ("1ms", "auto"), ("1ms", "trap")):
        remove(case.out)
        command = [case.sonde, "run", "--mode", f"cpu:{interval}", "--clock", clock, "-o", case.out, "--", case.jdk.home / "bin/java", "-XX:+UseSerialGC", "-cp",
                   case.classes, "app.Turns", 5 if case.quick else 10]
        events = {}
        with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf8") as process:
            for line in process.stdout:
                if line.strip() in ("all", "alone"):
                    events[line.strip()] = events_of_child(process.pid)
        if set(events) != {"all", "alone"}:
            raise Failed(f"exit code {process.returncode}")
        recording = Recording(case.sonde, case.out)
        sampling = recording.status()["time_sampling"]
        if not sampling["cpu_clock"].startswith("perf"):
            case.note += f" clock {sampling['cpu_clock']};"
            return
        rows = {row["name"]: row["total"].get("samples", 0) for row in recording.report("--by", "thread", "--metric", "samples")["rows"]}
        players = sum(count for name, count in rows.items() if name.startswith(("ping-", "pong-")))
        rate = sampling["samples_per_cpu_second"] * int(interval.removesuffix("ms")) / 1000
        case.note += f" {interval} {clock}: {events['all']} and {events['alone']} events, {rows.get('burner', 0)} samples of the burner, {players} of the others, {rate:.2f} of all;"
        # Among so many others the one that never waits may or may not run for long enough at a time; alone it does.
        fewest, most = ({"all": 0, "alone": 1}, 8) if interval == "10ms" else ({"all": 9, "alone": 1}, 100)
        is_shared = "shared" in sampling["cpu_clock"]
        if clock == "trap" and has_shared_event():
            case.check(f"clock {sampling['cpu_clock']}", is_shared)
        if is_shared:
            fewest, most = {"all": 1, "alone": 1}, 2
        for when, count in events.items():
            case.check(f"{interval}: {count} events, {when}", fewest[when] <= count <= most)
        # What the kernel needs to switch from thread to thread is their time, but no event runs meanwhile: a third at 1 ms on a busy machine.
        least = 0.9 if is_shared else 0.7 if interval == "10ms" else 0.4
        case.check(f"{interval}: {rate:.2f} of the samples", least < rate < 1.2)
        case.check(f"{interval}: {rows}", rows.get("burner", 0) > 10 and players > 10)


def has_shared_event():
    """Linux 6.11 and later, for whoever may open perf events."""
    return tuple(int(part) for part in re.match(r"(\d+)\.(\d+)", os.uname().release).groups()) >= (6, 11)


def case_early(case):
    """A thread that was there before the JVM has not inherited the event of all threads, and is sampled all the same."""
    library = case.sonde.resolve().parent / "libearly_thread.so"
    recording = case.run("cpu:200us", "Shares", 2, 1, 0, environment={"LD_PRELOAD": library})
    sampling = recording.status()["time_sampling"]
    rows = {row["name"]: row["total"].get("samples", 0) for row in recording.report("--by", "thread", "--metric", "samples")["rows"]}
    case.note = f" {sampling['cpu_clock']}; {rows.get('early', 0)} samples of the early thread, {rows.get('burner-0', 0)} of the other one;"
    # They run as long as each other, but for the start of the JVM and the time in which it was not noticed.
    case.check(f"samples of threads: {rows}", rows.get("early", 0) > 0.4 * rows.get("burner-0", 0) > 100)


def case_short(case):
    """Threads that end before their period does take that of others with them where all have one event: they get events of their own."""
    shares_of = {}
    for clock in ("perf", "trap"):
        recording = case.run("cpu:200us", "ShortThreads", 20_000 if case.quick else 60_000, options=["--clock", clock])
        sampling = recording.status()["time_sampling"]
        if not sampling["cpu_clock"].startswith("perf"):
            case.note += f" clock {sampling['cpu_clock']};"
            return
        rate = sampling["samples_per_cpu_second"] * 200e-6
        between = methods(recording.report("--metric", "samples")).get("ShortThreads.between", 0)
        shares_of[clock] = between / sampling["cpu_samples"]
        case.note += f" {sampling['cpu_clock']}: {rate:.2f} of all, {100 * shares_of[clock]:.1f} % in between;"
        if clock == "trap":
            case.check(f"clock {sampling['cpu_clock']}", "shared" not in sampling["cpu_clock"])
        case.check(f"{clock}: {rate:.2f} of the samples", rate > 0.4)
        case.check(f"{clock}: {between} samples of what is called in between", between > 300)
    case.check(f"shares {shares_of}", 0.7 < shares_of["trap"] / shares_of["perf"] < 1.4)


def events_of_child(pid):
    child = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()[0]
    return sum("perf_event" in os.readlink(file) for file in pathlib.Path(f"/proc/{child}/fd").iterdir())


def case_timer(case):
    """Where perf events are not permitted."""
    recording = shares(case, 2, 5, options=["--clock", "timer"])
    sampling = recording.status()["time_sampling"]
    independent = sampling["independent_cpu_samples"]
    case.note += f" as good as {independent:.0f} independent ones;"
    case.check(f"{independent} of {sampling['cpu_samples']} are independent", 10 < independent < sampling["cpu_samples"])
    case.check("clock", sampling["cpu_clock"] == "thread-timer")
    rate = sampling["samples_per_cpu_second"]
    case.check(f"{rate:.0f} samples per CPU second, each with its overruns", 500 <= rate <= 1100)


def case_signal(case):
    """Perf events send SIGTRAP if samples are frequent, and SIGPROF otherwise: the shares are the same."""
    for clock, known in (("auto", ("perf", "perf-user", "thread-timer")), ("trap", ("perf-shared-trap", "perf-user-shared-trap", "perf", "perf-user", "thread-timer"))):
        used = shares(case, 2, 5, options=["--clock", clock]).status()["time_sampling"]["cpu_clock"]
        case.check(f"clock {used} for {clock}", used in known)


def case_trap(case):
    """A trap that is no sample ends the program, as it does without us."""
    remove(case.out)
    with subprocess.Popen([case.sonde, "run", "--mode", "cpu:200us", "-o", case.out, "--", case.jdk.home / "bin/java", "-Xmx256m", "-XX:-CreateCoredumpOnCrash",
                           "-cp", case.classes, "app.Shares", "60", "1", "0"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))) as process:
        java, looks = None, 0
        while java is None and process.poll() is None and looks < 600:
            looks += 1
            time.sleep(0.1)
            java = sampled_child(process.pid)
        if java is None:
            process.kill()
            raise Failed("the JVM is not sampled")
        os.kill(java, signal.SIGTRAP)
        code = process.wait()
    if code != 128 + signal.SIGTRAP:
        raise Failed(f"exit code {code}")


def sampled_child(pid):
    """The JVM that `sonde run` started, once the sampler's thread is there."""
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split():
        for task in pathlib.Path(f"/proc/{child}/task").glob("*/comm"):
            if task.read_text(encoding="ascii", errors="replace").strip() == "sonde":
                return int(child)
    return None


def case_stops(case):
    """The program's own faults in the middle of samples: safepoints, null pointers, divisions by zero."""
    for interval, clock in (("100us", "auto"), ("1ms", "trap"), ("100us", "perf")):
        recording = case.run(f"cpu:{interval},wall:5ms", "Faults", 2 if case.quick else 20, options=["--clock", clock])
        status = recording.status()
        case.check_complete(status, 0.5)
        used = status["time_sampling"]["cpu_clock"]
        case.check(f"clock {used} for {clock}", clock != "perf" or "trap" not in used)


def check_schema(case, document):
    """The report as JSON is what its schema says; nothing is said where the validator is missing."""
    file = case.out.with_suffix(".json")
    file.write_text(json.dumps(document))
    done = execute([sys.executable, ROOT / "test/schema/validate.py", ROOT / "docs/reference/report.schema.json", file], timeout=60)
    case.check(f"the schema refuses the report: {done.stdout}", done.code in (0, 77))


def case_states(case):
    recording = case.run("wall:5ms", "Waits", 2)
    check_schema(case, recording.report())
    check_schema(case, recording.report("--by", "state"))
    case.check_complete(recording.status(), 0.5)
    states = {}
    for line in recording.report("--by", "state")["rows"]:
        thread, state = line["name"].rsplit(": ", 1)
        states.setdefault(thread, {})[state] = line["total"]["wall_ns"]
    for name in ("sleeping", "parked", "waiting", "blocked", "io", "running"):
        of_thread = states.get(name, {})
        most = max(of_thread, key=of_thread.get, default="nothing")
        expected = (name, "runnable") if name == "running" else (name,)
        case.check(f"thread {name} is {most}: {of_thread}", most in expected)
        if name == "parked":
            rows = methods(recording.report("--metric", "wall_ns", "--thread", "parked"), value="wall_ns")
            on = rows.get(".[on java.util.concurrent.CountDownLatch]", 0)
            case.check(f"parked on something else: {rows}", on >= 0.9 * of_thread.get("parked", 0) > 0)
        seconds = sum(of_thread.values()) / 1e9
        case.check(f"thread {name}: {seconds:.2f} s of wall time", 1.0 <= seconds <= 4)


def case_together(case):
    """Counts, CPU time and wall time in one recording, and the counts as without samples."""
    recording = case.run("exact,cpu:1ms,wall:10ms", "Shares", 0.5, 2, 3)
    check_shares(case, recording)
    report = recording.report("--metric", "calls")
    calls = methods(report, "self", "calls")
    counts = [calls.get(f"Shares.{name}", 0) for name in SHARES]
    case.check(f"calls differ: {counts}", len(set(counts)) == 1 and counts[0] > 0)
    case.check("no wall time", methods(report, value="wall_ns").get("Shares.burn", 0) > 0)

    def by_bytecodes(mode):
        recording = case.run(mode, "Shares", 0.01, 1, 3, options=["--no-jdk"])
        sums = methods(recording.report("--metric", "samples", "--thread", "main"), "self")
        return {name: samples for name, samples in sums.items() if samples}, recording.report("--metric", "cpu_ns")

    # They are the same with and without samples of the CPU.
    alone, _ = by_bytecodes("bytecode:granularity=500")
    both, times = by_bytecodes("bytecode:granularity=500,cpu:1ms")
    case.check(f"samples differ: {alone}, {both}", alone == both and alone)
    case.check("no CPU time", sum(methods(times, "self", "cpu_ns").values()) > 0)


def case_shared_classes(case):
    """A JVM that is only sampled keeps its class data sharing and rewrites nothing."""
    recording = case.run("cpu:1ms", "Shares", 1, 1, 0, jvm=["-Xshare:on"])
    status = recording.status()
    case.check("classes were rewritten", status["own_cpu_ns"] == 0)


def case_killed(case):
    remove(case.out)
    live = pathlib.Path(f"{case.out}.live")
    process = subprocess.Popen([case.sonde, "run", "--mode", "cpu:1ms", "-o", case.out, "--",
                                case.jdk.home / "bin/java", "-cp", case.classes, "app.Shares", "60", "1", "0"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    time.sleep(4)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    check_shares(case, Recording(case.sonde, live))
    remove(case.out)


def case_virtual(case):
    if case.jdk.major < 21:
        case.note = " needs JDK 21"
        return
    recording = case.run("cpu:1ms", "Virtual", 2, 20)
    sums = methods(recording.report("--metric", "samples", "--thread", "virtual"))
    everywhere = methods(recording.report("--metric", "samples"))
    burnt = everywhere.get("Virtual.burn", 0)
    case.check(f"{sums.get('Virtual.burn', 0)} of {burnt} samples are the virtual threads'",
               burnt > 100 and sums.get("Virtual.burn", 0) == burnt)
    whole = sums.get("java/lang/VirtualThread.run", 0) + recording.counters().get("StacksFrozen", 0)
    case.check(f"{whole} of {burnt} stacks reach the entry or say why not", whole >= burnt)
    case.check_complete(recording.status(), 0.5)


def case_frozen(case):
    """Virtual threads in native code, whose callers lie in the heap, which a collector may move at any moment."""
    if case.jdk.major < 21:
        case.note = " needs JDK 21"
        return
    depth, seconds = 150, 1 if case.quick else 3
    # By collector, options and pause between collections in ms: at most so many percent without callers. A thread in native
    # code runs on while a collector works, and ZGC begins by itself.
    collectors = ["G1", "Serial", "Parallel"]
    runs = [(gc, "", 0, 0) for gc in collectors] + [(gc, "", 20, 50) for gc in collectors]
    runs += [("G1", "-Xint", 20, 50), ("G1", "-XX:-UseCompressedOops", 20, 50)]
    if case.jdk.major >= 24:
        runs += [("Z", "", 0, 2), ("Z", "", 20, 50), ("Z", "-Xint", 20, 50)]
    if case.jdk.major >= 25:
        runs += [(gc, "-XX:+UseCompactObjectHeaders", 20, 50) for gc in ("G1", "Z")]
    for gc, option, pause, percent in runs if not case.quick else runs[:4:3]:
        jvm = [f"-XX:+Use{gc}GC", *option.split()]
        recording = case.run("cpu:200us", "Frozen", seconds, 4, depth, pause, jvm=jvm)
        case.check_named(recording.status())
        whole, frozen, wrong = 0, 0, []
        for line in recording.export("samples"):
            stack, _, count = line.rpartition(" ")
            frames = [frame.split("(")[0].rpartition(".")[2] for frame in stack.split(";")]
            if "deflateBufferBuffer" not in frames:
                continue
            if "[frozen_frames]" in frames:
                frozen += int(count)
            elif frames.count("down") == depth + 1 and any("VirtualThread.run" in frame for frame in stack.split(";")):
                whole += int(count)
            else:
                wrong.append(f"{count} x {frames}")
        name = " ".join([*jvm, *["collecting"] * (pause > 0)])
        case.note += f" {name}: {whole} whole, {frozen} frozen;"
        case.check(f"{name}: stacks that were never there: {wrong[:3]}", not wrong)
        case.check(f"{name}: {frozen} of {whole + frozen} stacks have no callers",
                   whole + frozen > 200 * seconds and frozen <= percent * (whole + frozen) / 100)


def case_callers(case):
    """Frames that lie where others lay a moment before are not taken for those."""
    recording = case.run("cpu:200us", "Callers", 2 if case.quick else 10, jvm=["-XX:-Inline"])
    case.check_complete(recording.status(), 0.5)
    turns = {"burn0": 5, "burn1": 20, "burn2": 40, "burn3": 59}
    wrong, seen = [], dict.fromkeys(turns, 0)
    for line in recording.export("samples"):
        stack, _, count = line.rpartition(" ")
        frames = [frame.split("(")[0].rpartition(".")[2] for frame in stack.split(";")]
        ends = [frame for frame in frames if frame in turns]
        if not ends:
            continue
        calls = [frame for frame in frames if frame in ("left", "right")]
        expected = ["left"] * 61
        expected[61 - turns[ends[0]]] = "right"
        seen[ends[0]] += int(count)
        if calls != expected:
            wrong.append(f"{count} x {ends[0]}: {' '.join(calls)}")
    case.note += f" {sum(seen.values())} stacks;"
    case.check(f"stacks that were never there: {wrong[:5]}", not wrong)
    case.check(f"samples in {seen}", min(seen.values()) > 50)


def case_order(case):
    """A program that only calls and returns: whichever instruction of a prologue or epilogue is hit, callers are right."""
    wrong, stacks = [], 0
    order = ("first", "second", "third", "fourth")
    for jvm in (["-XX:-Inline"], ["-XX:-Inline", "-XX:+UseZGC"]) if not case.quick or case.jdk.major < 21 else (["-XX:-Inline"],):
        recording = case.run("cpu:200us", "Order", 2 if case.quick else 10, jvm=jvm)
        case.check_complete(recording.status(), 0.1)
        for line in recording.export("samples"):
            stack, _, count = line.rpartition(" ")
            frames = [frame.split("(")[0].rpartition(".")[2] for frame in stack.split(";")]
            if any(frame.startswith("[") for frame in frames):
                continue  # says itself that it is not whole
            calls = [frame for frame in frames if frame in order]
            stacks += int(count) if calls else 0
            is_right = all(call == order[i % 4] for i, call in enumerate(calls))
            if not is_right or any(frame == "aside" and frames[i + 1 : i + 2] not in ([], ["first"]) for i, frame in enumerate(frames)):
                wrong.append(f"{count} x {' '.join(frames)}")
    case.note += f" {stacks} stacks;"
    case.check(f"stacks that were never there: {wrong[:5]}", not wrong)
    case.check(f"only {stacks} stacks", stacks > 300)


def case_redefined(case):
    """Methods whose class changes under the samples keep their names."""
    jar = case.classes.parent / "redefine.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nPremain-Class: app.Redefine\nCan-Retransform-Classes: true\n")
        for file in (case.classes / "app").glob("Redefine*.class"):
            archive.write(file, f"app/{file.name}")
    recording = case.run("cpu:200us,wall:5ms", "Redefine", 2 if case.quick else 10, jvm=[f"-javaagent:{jar}"])
    case.check_complete(recording.status(), 0.5)
    case.check_named(recording.status())
    sums = methods(recording.report("--metric", "samples", "--thread", "burner"))
    case.check(f"samples in {sums}", min(sums.get("Redefine$Worker.work", 0), sums.get("Redefine$Worker.twice", 0)) > 10)


def case_restarts(case):
    """Sampling that starts and stops again and again in a JVM that does everything hard leaves nothing behind."""
    folder = pathlib.Path(f"{case.out}.live")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    rounds = 40 if case.quick else 1000
    agent = case.sonde.resolve().parent / "librestarts.so"
    done = execute([case.jdk.home / "bin/java", "-Xmx256m", f"-agentpath:{agent}={folder},{rounds},20",
                    "-cp", case.classes, "app.Churn", case.seconds if case.quick else 120], timeout=300)
    said = re.search(r"restarts: (\d+) rounds, (-?\d+) KB more", done.stderr)
    if done.code != 0 or "done" not in done.stdout or not said:
        raise Failed(f"exit code {done.code}: {done.stdout[-500:]}{done.stderr[-1500:]}")
    case.note = f" {said[1]} rounds, {said[2]} KB more;"
    case.check(f"only {said[1]} rounds", int(said[1]) >= rounds / 8)
    status = Recording(case.sonde, folder).status()
    case.check(f"damage: {status['damage']}", status["damage"]["count"] == 0)
    # On a busy machine the program ends before the rounds do, and in the last one nobody runs.
    if int(said[1]) == rounds:
        case.check("no samples in the last round", status["time_sampling"]["cpu_samples"] > 0)


def case_churn(case):
    collectors = ["-XX:+UseSerialGC"] if case.quick else ["-XX:+UseSerialGC", "-XX:+UseG1GC", "-XX:+UseZGC",
                                                          "-XX:+UseParallelGC"]
    for collector in collectors:
        for extra in [] if case.quick else ["-Xint", "-XX:ReservedCodeCacheSize=8m", "-XX:TieredStopAtLevel=1"]:
            churn(case, [collector, extra])
        churn(case, [collector])


def churn(case, jvm):
    recording = case.run("cpu:200us,wall:5ms", "Churn", case.seconds, jvm=jvm)
    status = recording.status()
    case.check_complete(status, 1.0)
    case.check_named(status)
    sums = methods(recording.report("--metric", "samples"))
    case.check("no sample of a class that was unloaded", sums.get("Churn$Plugin.applyAsInt", 0) > 0)


SOAK = (["-XX:+UseZGC"], ["-XX:+UseSerialGC"], ["-XX:+UseSerialGC", "-XX:ReservedCodeCacheSize=8m"], ["-XX:+UseSerialGC", "-Xint"])


def case_soak(case):
    """Sampling that starts and stops every second, for long, in JVMs that do everything hard: nothing breaks, nothing grows."""
    for jvm in SOAK:
        soak(case, jvm, max(3, case.seconds / len(SOAK)))


def soak(case, jvm, seconds):
    folder = pathlib.Path(f"{case.out}.live")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    agent = case.sonde.resolve().parent / "librestarts.so"
    round_ms = 1000 if seconds >= 60 else 100
    # Classes go when so much memory is full of them, 21 MB by default: on a busy machine that may take half of the time, and looks like
    # something that grows.
    command = [case.jdk.home / "bin/java", "-Xmx256m", "-Xms256m", "-XX:+AlwaysPreTouch", "-XX:MetaspaceSize=4m", *jvm,
               f"-agentpath:{agent}={folder},1000000000,{round_ms}", "-cp", case.classes, "app.Churn", seconds]
    with open(folder / "output", "w+", encoding="utf-8") as output:
        process = subprocess.Popen([str(word) for word in command], stdout=output, stderr=output)
        resident, start, has_unloaded, waited = [], time.monotonic(), None, 0
        # Patience is counted in looks: time in which everything here was stopped is nobody's fault.
        while process.poll() is None and waited < seconds + 120:
            pause = min(1, seconds / 20)
            time.sleep(pause)
            waited += pause
            resident.append(resident_mb(process.pid))
            if seconds >= 60 and has_unloaded is None and time.monotonic() > start + 0.6 * seconds:
                has_unloaded = any(unloads_classes(case.jdk, process.pid) for _ in range(3))
        hangs = process.poll() is None
        if hangs:
            process.kill()
        output.seek(0)
        said = output.read()
    rounds = re.search(r"restarts: (\d+) rounds", said)
    name = " ".join(jvm)
    case.check(f"{name}: no end", not hangs)
    case.check(f"{name}: something keeps classes that nobody uses", has_unloaded is not False)
    case.check(f"{name}: exit code {process.wait()}: {said[-1500:]}", process.wait() == 0 and "done" in said and rounds)
    resident = [value for value in resident if value > 0]
    early, late = max(resident[: len(resident) // 2 + 1]), max(resident[len(resident) // 2:])
    case.note += f" {name}: {rounds[1] if rounds else 0} rounds, {early:.0f} MB, later {late:.0f} MB;"
    if seconds >= 60:
        case.check(f"{name}: {early:.0f} MB in the first half, {late:.0f} MB in the second", late <= 1.05 * early + 16)
    shutil.rmtree(folder, ignore_errors=True)


def unloads_classes(jdk, pid):
    """A full collection takes most class loaders: those of Churn live for a moment. ZGC leaves few to take: 16 to 40."""
    def loaders(first):
        if first:
            subprocess.run([jdk.home / "bin/jcmd", str(pid), first], capture_output=True, check=False)
        text = subprocess.run([jdk.home / "bin/jcmd", str(pid), "VM.metaspace"], capture_output=True, text=True, check=False).stdout
        found = re.search(r"(\d+) loaders", text)
        return int(found[1]) if found else None

    before, after = loaders(None), loaders("GC.run")
    return before is None or after is None or after < before / 2 or before < 200


def resident_mb(pid):
    try:
        pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def case_faults(case):
    """Wrong addresses cost stacks and nothing else."""
    recording = case.run("cpu:200us,wall:5ms", "Churn", case.seconds)
    status = recording.status()
    failed = status["time_sampling"]["failed_samples"]
    case.note = f" {failed} of {status['time_sampling']['cpu_samples']} stacks were lost to faults"
    case.check("no fault was noticed", failed > 0)
    case.check(f"damage: {status['damage']}", status["damage"]["count"] == 0)


CASES = {name.removeprefix("case_"): function for name, function in list(globals().items()) if name.startswith("case_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sonde", nargs="?", type=pathlib.Path, default=ROOT / "build/dev/sonde")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/dev/sampler")
    parser.add_argument("--cases", default=",".join(name for name in CASES if name not in ("faults", "soak")))
    parser.add_argument("--jdk", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--faults", action="store_true")
    arguments = parser.parse_args()
    arguments.seconds = arguments.seconds or (6 if arguments.quick else 20)
    if arguments.faults:
        # The program takes the agent that lies beside it.
        faults = arguments.sonde.parent / "faults"
        if not (faults / "libsonde.so").exists():
            print(f"{faults}/libsonde.so is missing")
            return 77
        arguments.sonde = pathlib.Path(shutil.copy(arguments.sonde, faults))
        arguments.cases = "faults"
    jdks = [jdk for jdk in find_jdks() if not arguments.jdk or str(jdk.major) in arguments.jdk.split(",")]
    if not arguments.sonde.exists() or not jdks:
        print(f"{arguments.sonde} or a JDK is missing")
        return 77
    arguments.work.mkdir(parents=True, exist_ok=True)
    compile_programs(arguments.work, find_jdks(), SOURCES, "classes")
    failed = 0
    for jdk in jdks:
        for name in arguments.cases.split(","):
            verdict = run_case(arguments, jdk, name, "again" if arguments.quick else "FAILED")
            if verdict == "again":
                verdict = run_case(arguments, jdk, name, "FAILED")
            failed += verdict == "FAILED"
    return 1 if failed else 0


def run_case(arguments, jdk, name, if_wrong):
    case, verdict = Case(arguments, jdk), "ok"
    try:
        CASES[name](case)
        verdict = if_wrong if case.problems else "ok"
    except Failed as error:
        case.problems.append(str(error))
        verdict = "FAILED"
    remove(case.out)
    print(f"{verdict:6} JDK {jdk.major} {name}:{case.note}", flush=True)
    for problem in case.problems:
        print(f"       {problem}", flush=True)
    return verdict


if __name__ == "__main__":
    sys.exit(main())
