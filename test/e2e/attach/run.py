#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [SONDE]: attaches to programs that run. They must go on as if nobody were there, what is recorded must be
right, and when the recording ends nothing of it may stay.

Exit code 1: a case failed. 77: something needed is not built.

  --cases A,B   --jdk 17,25     only these
  --cycles N    how often recordings start and stop (default 200, with --quick 12)
  --quick       what CI runs
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from jvm import Attached, Steady, socket_of, status, wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "stress"))

import recordings  # noqa: E402
from recordings import ROOT, Failed, Recording, execute  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
NOBODY = 65534
COUNTED = ("Steady.work", "Steady.recurse", "Steady.half", "Steady$Pair.area", "Steady$Square.area")
RUNS = 300


class Skipped(Exception):
    pass


class Case:
    def __init__(self, arguments, jdk, folder):
        self.arguments, self.jdk, self.folder = arguments, jdk, folder
        self.sonde = arguments.sonde
        self.out = folder / "x.sonde"
        self.problems, self.note = [], ""

    def check(self, what, holds):
        if not holds:
            self.problems.append(what)

    def expect(self, what, actual, expected):
        self.check(f"{what}: {str(actual)[:300]} instead of {str(expected)[:300]}", actual == expected)

    def steady(self, *options, **more):
        return Steady(self.jdk, self.arguments.work / "classes", *options, **more)

    def attach(self, program, mode, out=None, *options):
        return Attached(self.sonde, program.pid, out or self.out, "--mode", mode, *options)

    def ctl(self, program, *words):
        done = execute([self.sonde, "ctl", program.pid, *words])
        self.check(f"ctl {words}: {done.stderr}", done.code == 0)


def samples_in(recording):
    try:
        return recording.status().get("time_sampling", {}).get("cpu_samples", 0)
    except Failed:
        return 0


def first_numbers(case):
    """Live numbers within a second, with no preparation; the warning of new JDKs is announced."""
    with case.steady(stderr=subprocess.PIPE) as program:
        program.send("spin 2500")
        begin = time.monotonic()
        with case.attach(program, "cpu:1ms") as attached:
            wait_until("samples", lambda: samples_in(Recording(case.sonde, attached.live)) > 0, 5)
            took = time.monotonic() - begin
            program.expect_line()
            recording = attached.end()
        case.note = f"{took * 1000:.0f} ms"
        case.check(f"first numbers after {took:.2f} s", took < 1)
        shares = {row["method"]: row["self"].get("samples", 0) for row in recording.report()["rows"] if row.get("class") == "Steady"}
        case.check(f"no samples of the program: {shares}", sum(shares.values()) > 100)
        said = "".join(attached.words)
        program.end()
        warned = "loaded dynamically" in program.process.stderr.read()
        case.expect("the warning is announced", "loaded dynamically" in said, warned)


def expected_counts(case):
    """{method: (calls, bytecodes)} of RUNS times work(), from a JVM that was started to be counted."""
    sums = []
    for runs in (0, RUNS):
        out = case.folder / "launched.sonde"
        command = [case.jdk.java, "-cp", case.arguments.work / "classes", "Steady"]
        _, recording = recordings.record(case.sonde, out, command, ["--mode", "exact"], input=f"run {runs}\n")
        sums.append(recording.sums())
    return {name: tuple(b - a for a, b in zip(sums[0][name], sums[1][name], strict=True)) for name in COUNTED}


def counts(case):
    """Exact counting after attach counts what it counts from the start; three recordings in one JVM, and two starts in
    one recording, do not know of each other."""
    expected = expected_counts(case)
    case.check(f"nothing to compare: {expected}", expected["Steady.work"][0] == RUNS)
    with case.steady() as program:
        program.tell("run 2000")  # compiled code, too
        for mode in ("exact", "exact:flat", "exact"):
            with case.attach(program, mode) as attached:
                program.tell(f"run {RUNS}")
                sums = attached.end().sums()
            for name in COUNTED:
                case.expect(f"{mode}: {name}", sums[name], expected[name])
        with case.attach(program, "exact") as attached:
            program.tell(f"run {RUNS}")
            case.ctl(program, "stop", "exact")
            program.tell("run 77")
            case.ctl(program, "start", "exact")
            program.tell(f"run {RUNS}")
            sums = attached.end().sums()
        for name in COUNTED:
            case.expect(f"twice: {name}", sums[name], tuple(2 * n for n in expected[name]))
        case.expect("exit code", program.end(), 0)


def contexts(case):
    """Threads and frames that were there before: what they call is at the root; what runs from one recording into the
    next disturbs neither."""
    with case.steady() as program:
        for _ in range(2):
            with case.attach(program, "exact") as attached:
                program.tell("hold")
                time.sleep(0.3)
                program.tell(f"run {RUNS}")
                recording = attached.end()
            lines = recording.contexts()
            held = [line for line in lines if line["thread"] == "held" and line["stack"][-1].startswith("Steady.work(")]
            case.check("the held thread is not counted", sum(line["calls"] for line in held) > 10)
            with case.attach(program, "exact") as attached:
                time.sleep(0.3)
                recording = attached.end()
            held = [line for line in recording.contexts() if line["thread"] == "held"]
            roots = {line["stack"][0].split("(")[0] for line in held}
            case.check(f"a method that was running has a context: {roots}", "Steady.hold" not in roots)
            case.check(f"what a running method calls is not at the root: {roots}", "Steady.work" in roots)
            case.expect("damage", recording.status()["damage"]["count"], 0)
            program.tell("release")
        case.expect("exit code", program.end(), 0)


def dump(case, program, name):
    """[words of a line of bytecode_dump.cc]"""
    out = case.folder / name
    program.jcmd("JVMTI.agent_load", case.arguments.dump, out)
    return [line.split() for line in out.read_text().splitlines()]


def bytecodes_of(case, program, name):
    return {line[0]: line[1] for line in dump(case, program, name) if len(line) == 2}


def pools_of(case, program, name):
    return {line[1]: int(line[2]) for line in dump(case, program, name) if line[0] == "pool"}


def removal(case):
    """After a recording, classes have the bytecode that they had, and the program its speed."""
    with case.steady("-XX:+EnableDynamicAgentLoading") as program:
        program.spin(1500)
        before_speed = program.spin(1000)
        before = bytecodes_of(case, program, "before")
        with case.attach(program, "exact") as attached:
            during = bytecodes_of(case, program, "during")
            during_speed = program.spin(500)
            attached.end()
        after = bytecodes_of(case, program, "after")
        changed = [name for name, code in before.items() if during.get(name) != code]
        case.check(f"only {len(changed)} of {len(before)} methods were changed", len(changed) > len(before) / 3)
        # The JVM merges constant pools when it changes a class, so that an index in the code may be another one.
        longer = [name for name, code in before.items() if len(after.get(name, code)) != len(code)]
        other = [name for name, code in before.items() if after.get(name, code) != code]
        case.check(f"{len(longer)} methods are not what they were: {longer[:3]}", not longer)
        case.check(f"{len(other)} methods are not what they were: {other[:3]}", len(other) < len(before) / 200)
        speeds = [program.spin(700) for _ in range(3)]
        case.note = f"calls per ms: {before_speed:.0f} before, {during_speed:.0f} while counted, {max(speeds):.0f} after"
        case.check(f"slower afterwards: {case.note}", max(speeds) > 0.6 * before_speed)
        case.expect("exit code", program.end(), 0)


SUBGRAPH = {"Steady.work": (1, 0), "Steady.recurse": (465, 0), "Steady.half": (4, 2), "Steady$Pair.area": (5, 0),
            "Steady$Square.area": (6, 0), "Steady$Pair.<init>": (5, 0), "Steady$Square.<init>": (6, 0)}  # fmt: skip


def expect_subgraph(case, what, recording, runs, expected=None):
    """Calls and exits by exceptions, of these methods and no others."""
    rows = recording.report()["rows"]
    found = {f"{row['class']}.{row['method']}": (row["self"]["calls"], row["self"].get("exceptions", 0)) for row in rows}
    found = {name: counts for name, counts in found.items() if ".lambda$" not in name}
    expected = {name: (calls * runs, thrown * runs) for name, (calls, thrown) in (expected or SUBGRAPH).items()}
    case.expect(what, found, expected)
    state = recording.status()
    case.expect(f"{what}: damage", state["damage"]["count"], 0)
    case.expect(f"{what}: counters", state["counters"], [])


def subgraph(case):
    """Call subgraphs of a JVM that runs: complete from the first call on, one after the other, on and off again, with a
    frame that runs from one into the next; then bytecode and speed are what they were."""
    with case.steady("-XX:+EnableDynamicAgentLoading") as program:
        program.spin(1500)
        before_speed = program.spin(1000)
        before = bytecodes_of(case, program, "before")
        for i in range(3):
            with case.attach(program, "subgraph:root=Steady.work") as attached:
                program.tell(f"run {RUNS}")
                expect_subgraph(case, f"recording {i}", attached.end(), RUNS)
        with case.attach(program, "region:Steady.recurse,cpu:1ms") as attached:
            program.tell(f"run {RUNS}")
            facts = attached.end().status()["subgraph"]["roots"][0]
            case.expect("region", (facts["calls"], facts["timed"]), (RUNS, RUNS))
        with case.attach(program, "subgraph:root=Steady.half,time=off") as attached:
            program.tell(f"run {RUNS}")
            case.ctl(program, "stop", "subgraph")
            program.tell("run 77")
            case.ctl(program, "start", "subgraph:root=Steady.half,time=off")
            program.tell(f"run {RUNS}")
            refused = execute([case.sonde, "ctl", program.pid, "start", "exact"])
            case.check(f"exact besides: {refused.stderr}", refused.code == 1 and "mode subgraph" in refused.stderr)
            during = bytecodes_of(case, program, "during")
            expect_subgraph(case, "twice", attached.end(), 2 * RUNS, {"Steady.half": (4, 2)})
        program.tell("hold")
        for root in ("Steady.hold", "Steady.work", "Steady.hold"):
            with case.attach(program, f"subgraph:root={root}") as attached:
                time.sleep(0.3)
                recording = attached.end()
            state = recording.status()
            case.expect(f"{root} while it runs: damage", state["damage"]["count"], 0)
            calls = {row["method"]: row["self"]["calls"] for row in recording.report()["rows"]}
            case.check(f"{root} while it runs: {calls}", (calls.get("work", 0) > 10) == (root == "Steady.work"))
        program.tell("release")
        after = bytecodes_of(case, program, "after")
        changed = sorted(name for name, code in before.items() if during.get(name, code) != code)
        case.check(f"changed while it was measured: {changed}", [name for name in changed if name.startswith("LSteady;.half(")])
        other = [name for name, code in before.items() if after.get(name, code) != code]
        case.check(f"{len(other)} methods are not what they were: {other[:3]}", not other)
        speeds = [program.spin(700) for _ in range(3)]
        case.note = f"calls per ms: {before_speed:.0f} before, {max(speeds):.0f} after"
        case.check(f"slower afterwards: {case.note}", max(speeds) > 0.6 * before_speed)
        case.expect("exit code", program.end(), 0)


def classes_of(program):
    hierarchy = program.jcmd("VM.class_hierarchy")
    return {line.strip("|- \t").split("/")[0] for line in hierarchy.splitlines() if line.strip("|- \t")}


def metaspace_kb(program):
    """What is in use, less what old versions of classes have given back for the next ones. The JVM throws old versions
    away some time after a collection."""
    readings = []
    for _ in range(6):
        program.jcmd("GC.run")
        line = next(line for line in program.jcmd("VM.metaspace").splitlines() if line.strip().startswith("Both:"))
        used, given_back = (
            float(size) * {"bytes": 1 / 1024, "KB": 1, "MB": 1024}[unit]
            for size, unit in re.findall(r"([\d.]+) (bytes|KB|MB)(?: *\([^)]*\) used|$)", line)
        )
        readings.append(used - given_back)
    return min(readings)


def settled_rss_kb(program):
    """What is left when compilers and collectors have given back what they worked in."""
    readings = []
    for _ in range(10):
        readings.append(program.status("VmRSS"))
        time.sleep(0.2)
    return min(readings)


OWN_CLASSES = ("RT", "RT$Memory", "Flat", "Thread", "Subgraph", "Subgraph$Seen")


def cycles(case):
    """Recordings start and stop again and again: memory and metaspace stay, and no classes but ours come."""
    modes = ("cpu:1ms", "exact", "subgraph:root=Steady.work", "wall:5ms", "exact:flat", "cpu:1ms,wall,exact")
    count = case.arguments.cycles
    with case.steady("-XX:+EnableDynamicAgentLoading") as program:

        def cycle(i):
            program.send("spin 120")
            with case.attach(program, modes[i % len(modes)], None, "--duration", "50ms") as attached:
                attached.wait()
            spun = program.expect_line()
            if not spun.endswith(" 0"):
                raise Failed(f"a result is wrong in round {i}, {modes[i % len(modes)]}: {spun}")
            program.jcmd("GC.run")  # old versions of classes go when garbage is collected

        quick = case.arguments.quick
        for i in range(6 if quick else 60):
            cycle(i)
        pools_before = pools_of(case, program, "before")
        before = settled_rss_kb(program), metaspace_kb(program), classes_of(program)
        for i in range(count):
            cycle(i)
        after = settled_rss_kb(program), metaspace_kb(program), classes_of(program)
        case.note = (
            f"{count} recordings: RSS {before[0] // 1024} -> {after[0] // 1024} MB, "
            f"metaspace {before[1] / 1024:.1f} -> {after[1] / 1024:.1f} MB"
        )
        # A NaN is not found again when the JVM merges pools: one Float and one Double, a change there and one back.
        grown = [(name, size - pools_before[name]) for name, size in pools_of(case, program, "after").items()
                 if size > pools_before.get(name, size) + count * 2 * 3]  # fmt: skip
        case.check(f"constant pools grow: {grown[:5]}", not grown)
        # After six recordings a JVM has not come to rest: then it is the pools that tell.
        case.check(f"memory grows: {case.note}", after[0] - before[0] < (40 if quick else 20) * 1024)
        case.check(f"metaspace grows: {case.note}", after[1] - before[1] < (12 if quick else 4) * 1024)
        ours = {name for name in after[2] if "sonde" in name.lower()}
        case.expect("our classes", ours, {f"java.lang.Sonde{name}" for name in OWN_CLASSES})
        new = {name for name in after[2] - before[2] if not name.startswith(("java.", "jdk.", "sun.", "Steady"))}
        case.expect("new classes", new, set())
        case.expect("exit code", program.end(), 0)


def switching(case):
    """Modes go on and off all the time; every result of the program is right."""
    seconds = 4 if case.arguments.quick else 20
    with case.steady() as program:
        program.send(f"spin {seconds * 1000}")
        switches = 0
        with case.attach(program, "cpu:1ms") as attached:
            end = time.monotonic() + seconds - 1
            modes = (("exact",), ("wall:5ms",), ("cpu:2ms",))
            while time.monotonic() < end:
                mode = modes[switches % 3]
                case.ctl(program, "start", *mode)
                time.sleep(0.3)
                case.ctl(program, "stop", mode[0].split(":")[0])
                switches += 1
            recording = attached.end()
        case.expect("wrong results", program.expect_line().split()[2], "0")
        status_of = recording.status()
        case.note = f"{switches} times on and off"
        case.check("nothing was recorded", status_of["contexts"] > 100)
        case.expect("damage", status_of["damage"]["count"], 0)
        case.expect("exit code", program.end(), 0)


def host_killed(case):
    """kill -9 of sonde: within a second the JVM is as it was."""
    with case.steady() as program:
        with case.attach(program, "exact,cpu:1ms") as attached:
            program.tell("run 100")
            attached.process.kill()
            took = wait_until("the end of the recording", lambda: not status(case.sonde, program.pid)["recording"], 5)
        case.note = f"{took * 1000:.0f} ms"
        case.check(f"the recording went on for {took:.2f} s", took < (3 if case.arguments.quick else 1))
        case.check("wrong result", program.tell("run 100").startswith("done 100 "))
        case.check("what is left is not readable", Recording(case.sonde, attached.live).sums()["Steady.work"][0] == 100)
        shutil.rmtree(attached.live)
        with case.attach(program, "exact") as attached:
            program.tell("run 10")
            case.expect("calls in the next recording", attached.end().sums()["Steady.work"][0], 10)
        case.expect("exit code", program.end(), 0)


def jvm_killed(case):
    """kill -9 of the JVM, and its normal end: what was counted is there."""
    with case.steady() as program:
        with case.attach(program, "exact,cpu:1ms") as attached:
            program.tell("run 100")
            program.process.kill()
            recording = attached.wait()
        case.expect("calls", recording.sums()["Steady.work"][0], 100)
        case.expect("state", recording.status()["state"], "killed")
    with case.steady() as program:
        with case.attach(program, "exact,cpu:1ms") as attached:
            program.tell("run 100")
            case.expect("exit code", program.end(), 0)
            recording = attached.wait()
        case.expect("calls", recording.sums()["Steady.work"][0], 100)
        case.expect("state", recording.status()["state"], "ended")


def refusals(case):
    """Wrong processes are a sentence and an exit code, and nothing happens to them."""

    def refuse(process, sentence, **options):
        out = case.folder / "refused.sonde"
        done = execute([case.sonde, "attach", process, "--duration", "1s", "-o", out], **options)
        case.check(f"{process}: {done.code} {done.stderr}", done.code == 1 and sentence in done.stderr)

    refuse("4194303", "no process")
    refuse(os.getpid(), "is no JVM")
    refuse("no.such.Main", "no JVM runs")
    with case.steady("-XX:+DisableAttachMechanism") as program:
        left_behind = f"/tmp/.java_pid{program.pid}"  # as a JVM does that is killed
        with socket.socket(socket.AF_UNIX) as ended:
            ended.bind(left_behind)
        refuse(program.pid, "DisableAttachMechanism")
        os.unlink(left_behind)
        case.expect("exit code", program.end(), 0)
    with case.steady() as program:
        if os.geteuid() == 0:
            refuse(program.pid, "another user", user=NOBODY, group=NOBODY, cwd="/")
        with case.attach(program, "cpu"):
            refuse(program.pid, "there is a recording already")
        done = execute([case.sonde, "attach", program.pid, "--mode", "nonsense"])
        case.expect("exit code for a wrong mode", done.code, 2)
        case.expect("exit code", program.end(), 0)


def hostile_clients(case):
    """Garbage on the control socket harms nothing; symbolic links lead nowhere."""
    with case.steady() as program:
        with case.attach(program, "exact") as attached:
            program.tell("run 10")
            path = socket_of(program.pid)
            case.expect("mode of the folder", os.stat(os.path.dirname(path)).st_mode & 0o777, 0o700)
            case.expect("mode of the recording", attached.live.stat().st_mode & 0o777, 0o700)
            junk = (b"\n", b"\x00" * 100 + b"\n", b"A" * 100_000, b"start exact\r\n", b"record /etc\n", b"record\n",
                    b"record " + str(case.folder).encode() + b"\n", b"hello 99\n", b"stop nothing\n", os.urandom(5000) + b"\n",
                    b"status\n" * 3000, b"start cpu cpu=0\n", b"start cpu nonsense=1\n", b"detachx\n")  # fmt: skip
            for bytes_ in junk:
                with socket.socket(socket.AF_UNIX) as client:
                    client.settimeout(5)
                    client.connect(path)
                    try:
                        client.sendall(bytes_)
                        client.shutdown(socket.SHUT_WR)
                        while client.recv(4096):
                            pass
                    except OSError:
                        pass  # it hung up on us
            silent = [socket.socket(socket.AF_UNIX) for _ in range(30)]
            for client in silent:
                client.connect(path)
            for client in silent:
                client.close()
            program.tell("run 10")
            case.expect("calls", attached.end().sums()["Steady.work"][0], 20)
        elsewhere = case.folder / "elsewhere"
        elsewhere.mkdir(mode=0o700)
        live = pathlib.Path(f"{case.out}.live")
        live.symlink_to(elsewhere)
        done = execute([case.sonde, "attach", program.pid, "-o", case.out])
        case.check(f"a symbolic link: {done.code} {done.stderr}", done.code == 1 and not list(elsewhere.iterdir()))
        case.expect("exit code", program.end(), 0)


def dormant(case):
    """-agentpath without options: nothing happens until somebody attaches, and then without a warning."""
    agent = case.sonde.parent / "libsonde.so"
    with case.steady(f"-agentpath:{agent}", stderr=subprocess.PIPE) as program:
        case.check("it listens", not os.path.exists(socket_of(program.pid)))
        with case.attach(program, "exact") as attached:
            program.tell("run 10")
            case.expect("calls", attached.end().sums()["Steady.work"][0], 10)
        case.check("a warning is announced", "loaded dynamically" not in "".join(attached.words))
        done = execute([case.sonde, "detach", program.pid])
        case.check(f"detach: {done.stderr}", done.code == 0)
        wait_until("no socket", lambda: not os.path.exists(socket_of(program.pid)), 5)
        with case.attach(program, "cpu") as attached:
            attached.end()
        case.expect("exit code", program.end(), 0)
        case.expect("words of the JVM", program.process.stderr.read(), "")


def namespaces(case):
    """A JVM with its own /tmp, files and process numbers, as in a container."""
    if case.arguments.work.is_relative_to("/tmp"):
        raise Skipped("the program is in /tmp")
    script = f"mount -t tmpfs none /tmp && mount --bind /dev/null {case.sonde.parent}/libsonde.so && exec \"$@\""
    prefix = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh"]
    if execute([*prefix, "true"]).code != 0:
        raise Skipped("no right to make namespaces")
    with case.steady(prefix=prefix) as program:
        children = pathlib.Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()
        program.pid = int(children[0])
        rows = execute([case.sonde, "ps"]).stdout
        case.check(f"it is not listed: {rows}", str(program.pid) in rows)
        with case.attach(program, "exact,cpu:1ms") as attached:
            program.tell("run 10")
            case.expect("calls", attached.end().sums()["Steady.work"][0], 10)
        left = [name for name in os.listdir(f"/proc/{program.pid}/root/tmp/sonde-{os.geteuid()}") if "live" in name]
        case.expect("what is left there", left, [])
        program.process.stdin.close()
        program.expect_line("end")


def top(case):
    """The live view: in a pipe, and on a terminal with keys."""
    with case.steady() as program:
        program.send("spin 9000")
        done = execute([case.sonde, "top", program.pid, "--mode", "cpu:1ms", "--frames", "3"])
        case.check(f"top: {done.code} {done.stderr}", done.code == 0)
        case.check(f"no method of the program:\n{done.stdout}", "Steady." in done.stdout and "modes on: cpu" in done.stdout)
        case.check("the recording goes on", not status(case.sonde, program.pid)["recording"])
        hot = execute([case.sonde, "top", program.pid, "--mode", "cpu:1ms", "--frames", "3", "--hot"]).stdout
        case.check(f"no hot methods or calls:\n{hot}", re.search(r"%  +[\d,]+  Steady\.\w+\n", hot)
                   and re.search(r"%  +[\d,]+  Steady\.\w+ -> \S+\n", hot))
        if shutil.which("tmux") is None:
            raise Skipped("no tmux")
        tmux = ["tmux", "-L", f"sonde-{os.getpid()}"]

        def screen():
            return execute([*tmux, "capture-pane", "-p"]).stdout

        def press(key):
            execute([*tmux, "send-keys", key])

        try:
            execute([*tmux, "new-session", "-d", "-x", "110", "-y", "30", f"{case.sonde} top {program.pid}; sleep 100"])
            wait_until("methods", lambda: "Steady." in screen(), 10)
            press("b")
            wait_until("classes", lambda: "by class" in screen(), 5)
            press("s")
            wait_until("another order", lambda: "sorted by self" in screen(), 5)
            press("w")
            wait_until("wall", lambda: "modes on: cpu,wall" in screen(), 5)
            press("m")
            wait_until("another metric", lambda: "wall_ns" in screen() or "samples" in screen(), 5)
            press("h")
            wait_until("hot methods", lambda: "hot methods" in screen() and "CPU time" in screen(), 5)
            press("h")
            wait_until("hot methods by wall time", lambda: "wall-clock time" in screen(), 5)
            press("h")
            wait_until("rates", lambda: "by class" in screen(), 5)
            press("q")
            wait_until("the end", lambda: "by class" not in screen(), 5)
            case.check("the recording goes on", not status(case.sonde, program.pid)["recording"])
        finally:
            execute([*tmux, "kill-server"])
        program.expect_line()
        case.expect("exit code", program.end(), 0)


def workloads(case):
    """Modes switch every 300 ms while real programs run: their checksums are right. Not in CI."""
    folder = pathlib.Path(os.environ.get("SONDE_WORKLOADS", ""))
    if not (folder / "run.sh").exists():
        raise Skipped("no SONDE_WORKLOADS")
    for name in (line.split()[0] for line in execute([folder / "list.sh"]).stdout.splitlines()):
        if name == "vthreads" and case.jdk.major < 21:
            continue
        environment = {**os.environ, "JAVA_HOME": str(case.jdk.home)}
        process = subprocess.Popen([folder / "run.sh", name], env=environment, stdout=subprocess.PIPE, text=True)
        switches = switch_modes(case, name, process)
        summary = process.communicate()[0].strip().splitlines()[-1]
        case.note += f"{name} {switches}; "
        case.check(f"{name}: {summary}", process.returncode == 0 and summary.endswith(" ok"))


class Iterations:
    """What iterations of a workload take, in ms of CPU time of the main thread, as they come."""

    def __init__(self, process):
        self.process, self.times = process, []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            words = line.split()
            if words[:1] == ["iter"]:
                self.times.append(float(words[words.index("main_cpu_ms") + 1]))

    def next(self, count):
        """The median of the next ones that begin from now on."""
        first = len(self.times) + 1
        wait_until("iterations", lambda: len(self.times) >= first + count, 120)
        return statistics.median(self.times[first : first + count])


def throughput(case):
    """h2: numbers within a second of attaching; after each of 20 recordings that count, iterations take what they took
    before, once the JVM has compiled its methods again. Not in CI."""
    folder = pathlib.Path(os.environ.get("SONDE_WORKLOADS", ""))
    if not (folder / "run.sh").exists():
        raise Skipped("no SONDE_WORKLOADS")
    environment = {**os.environ, "JAVA_HOME": str(case.jdk.home), "ITERS": "100000", "WL_PRINT": "1"}
    command = shlex.split(execute([folder / "run.sh", "h2", "small"], env=environment).stdout)
    after = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            iterations = Iterations(process)
            iterations.next(25)
            before = iterations.next(5)
            begin = time.monotonic()
            with Attached(case.sonde, process.pid, case.out, "--mode", "cpu:1ms") as attached:
                wait_until("samples", lambda: samples_in(Recording(case.sonde, attached.live)) > 0, 5)
                took = time.monotonic() - begin
                attached.end()
            for _ in range(20):
                done = execute([case.sonde, "attach", process.pid, "--mode", "exact", "--duration", "100ms", "-o", case.out])
                case.check(f"attach: {done.stderr}", done.code == 0)
                iterations.next(12)
                after.append(iterations.next(3))
        finally:
            process.kill()
    ratio = statistics.median(after) / before
    case.note = (
        f"first numbers after {took * 1000:.0f} ms; iterations of {before:.0f} ms before, then {min(after):.0f} to "
        f"{max(after):.0f} ms, the last {after[-1]:.0f} ms; ratio of the median {ratio:.3f}"
    )
    case.check(f"first numbers after {took:.2f} s", took < 1)
    case.check(f"slower afterwards: {case.note}", ratio < 1.15)


def java_below(pid):
    """The JVM that a script started."""
    for process in pathlib.Path("/proc").iterdir():
        try:
            if process.name.isdigit() and f"\nPPid:\t{pid}\n" in (process / "status").read_text():
                if (process / "comm").read_text() == "java\n":
                    return int(process.name)
                if (found := java_below(process.name)) is not None:
                    return found
        except OSError:
            continue
    return None


SUBGRAPH_ROOTS = {
    "h2": "org.h2.command.Command.executeUpdate",
    "ecj": "org.eclipse.jdt.internal.compiler.parser.Parser.parse",
    "xalan": "org.apache.xalan.transformer.TransformerImpl.*",
    "jython": "org.python.core.PyObject.__call__",
    "lucene": "org.apache.lucene.search.IndexSearcher.search",
}


def switch_modes(case, name, process):
    switches = 0
    wait_until("a JVM", lambda: java_below(process.pid) is not None, 20)
    pid = java_below(process.pid)
    time.sleep(0.5)
    while process.poll() is None:
        root = SUBGRAPH_ROOTS.get(name, "*.run")
        mode = ("exact", "cpu:1ms", f"subgraph:root={root}", "exact:flat", "wall:5ms", f"region:{root}")[switches % 6]
        out = case.folder / f"{name}.sonde"
        done = execute([case.sonde, "attach", pid, "--mode", mode, "--duration", "300ms", "-o", out])
        if done.code != 0:
            time.sleep(1)  # it may be about to end
        if done.code != 0 and java_below(process.pid) is not None:
            case.problems.append(f"{name}: {mode}: {done.stderr}")
        recordings.remove(out)
        switches += 1
        time.sleep(0.3)
    return switches


CASES = {
    "first-numbers": first_numbers,
    "counts": counts,
    "contexts": contexts,
    "removal": removal,
    "subgraph": subgraph,
    "cycles": cycles,
    "switching": switching,
    "host-killed": host_killed,
    "jvm-killed": jvm_killed,
    "refusals": refusals,
    "hostile-clients": hostile_clients,
    "dormant": dormant,
    "namespaces": namespaces,
    "top": top,
    "workloads": workloads,
    "throughput": throughput,
}
NOT_QUICK = ("workloads", "throughput")


def run_case(arguments, jdk, name):
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"sonde-attach-{name}-", dir=arguments.work) as folder:
        case = Case(arguments, jdk, pathlib.Path(folder))
        verdict = "ok"
        try:
            CASES[name](case)
        except Skipped as reason:
            verdict, case.note = "skipped", str(reason)
        except (Failed, OSError, subprocess.TimeoutExpired, StopIteration) as error:
            case.problems += [type(error).__name__, *str(error).splitlines()]
    if case.problems:
        verdict = "FAILED"
    print(f"{name:16} jdk {jdk.major:<3} {verdict:7} {time.monotonic() - start:6.1f} s  {case.note}", flush=True)
    for problem in case.problems[:25]:
        print(f"    {problem}", flush=True)
    return not case.problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sonde", nargs="?", type=pathlib.Path, default=ROOT / "build/dev/sonde")
    parser.add_argument("--dump", type=pathlib.Path, default=ROOT / "build/dev/libbytecode_dump.so")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/attach")
    parser.add_argument("--cases")
    parser.add_argument("--jdk")
    parser.add_argument("--cycles", type=int)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    arguments.sonde, arguments.work = arguments.sonde.resolve(), arguments.work.resolve()
    jdks = recordings.find_jdks()
    if not arguments.sonde.exists() or not arguments.dump.exists() or not jdks:
        print(f"run: {arguments.sonde}, {arguments.dump} or a JDK (tools/find_jdks) is missing", file=sys.stderr)
        return 77
    arguments.cycles = arguments.cycles or (12 if arguments.quick else 200)
    arguments.work.mkdir(parents=True, exist_ok=True)
    arguments.dump = arguments.dump.resolve()
    done = execute([jdks[0].home / "bin/javac", "-d", arguments.work / "classes", "--release", "17", HERE / "Steady.java"])
    if done.code != 0:
        raise Failed(done.stderr)
    default = [name for name in CASES if not arguments.quick or name not in NOT_QUICK]
    names = arguments.cases.split(",") if arguments.cases else default
    if unknown := [name for name in names if name not in CASES]:
        parser.error(f"no such case: {', '.join(unknown)}; there are {', '.join(CASES)}")
    if arguments.jdk:
        jdks = [jdk for jdk in jdks if str(jdk.major) in arguments.jdk.split(",")]
    results = [run_case(arguments, jdk, name) for jdk in jdks for name in names]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
