# SPDX-License-Identifier: Apache-2.0
"""What a person sees while a program runs, and modes that go on and off."""

import os
import pathlib
import re
import shutil
import subprocess
import time

from case import Skipped, samples_in
from jvm import ANSWER_S, row_of, socket_of, status, wait_until
from recordings import Recording, execute


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


def launched(case):
    """A JVM that `sonde run` records is known as one that was attached to: what lists, tells and shows works alike, and
    what cannot be done there says so."""
    live = pathlib.Path(f"{case.out}.live")
    with case.launched("exact,cpu:1ms") as program:
        program.send("spin 4000")
        row = row_of(case.sonde, program.pid)
        case.expect("ps", (row["recording"], row["modes"]), (str(live), ["exact", "cpu"]))
        text = execute([case.sonde, "ps"]).stdout
        case.check(f"ps: {text}", f"exact,cpu in {live}" in text)
        facts = status(case.sonde, program.pid)
        case.expect("status", [facts.get(key) for key in ("pid", "recording", "modes", "state")],
                    [program.pid, str(live), ["exact", "cpu"], "running"])  # fmt: skip
        case.check(f"what is in it: {facts}", facts.get("contexts", 0) > 10 and facts["recorded_ns"] > 0 and not facts["agent"])
        text = execute([case.sonde, "status", program.pid]).stdout
        case.check(f"status: {text}", f"Recording {live}" in text and "Modes     exact,cpu\n" in text and "Contents " in text)
        done = execute([case.sonde, "top", program.pid, "--frames", "3"])
        case.check(f"top: {done.code} {done.stderr}", done.code == 0)
        case.check(f"no method of the program:\n{done.stdout}", "Steady." in done.stdout and "modes on: exact,cpu" in done.stdout)
        program.expect_line()
        for words in (["ctl", program.pid, "stop", "cpu"], ["detach", program.pid]):
            done = execute([case.sonde, *words])
            case.check(f"{words}: {done.code} {done.stderr}", done.code == 1 and f"recorded by `sonde run`, in {live}" in done.stderr)
        case.check("an agent was brought in", not os.path.exists(socket_of(program.pid)))
        watcher = subprocess.Popen([case.sonde, "top", str(program.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        watcher.stdout.readline()
        case.expect("exit code", program.end(), 0)
        _, words = watcher.communicate(timeout=ANSWER_S)
        case.expect("how top ends", (watcher.returncode, words), (0, ""))
    state = Recording(case.sonde, case.out).status()
    case.expect("the recording", (state["state"], state["damage"]["count"]), ("ended", 0))


def recorded_in(case, program):
    row = row_of(case.sonde, program.pid)
    return row["recording"], sorted(row["modes"])


def beside(case):
    """What `sonde run` records may be attached to by modes of another kind; meanwhile that recording is the one to ask."""
    live = f"{case.out}.live"
    with case.launched("exact") as program:
        case.expect("launched", recorded_in(case, program), (live, ["exact"]))
        with case.attach(program, "cpu", case.folder / "y.sonde") as attached:
            case.ctl(program, "start", "wall")
            case.expect("attached", recorded_in(case, program), (str(attached.live), ["cpu", "wall"]))
            facts = status(case.sonde, program.pid)
            case.expect("status", (facts["recording"], facts.get("state")), (str(attached.live), "running"))
            attached.end()
        case.expect("launched again", recorded_in(case, program), (live, ["exact"]))
        done = execute([case.sonde, "attach", program.pid, "--mode", "exact", "-o", case.folder / "z.sonde"])
        case.check(f"two that count: {done.code} {done.stderr}", done.code == 1 and f"`sonde run` records it already, in {live}" in done.stderr)
        done = execute([case.sonde, "detach", program.pid])
        case.check(f"detach: {done.code} {done.stderr}", done.code == 0)
        case.expect("launched still", recorded_in(case, program), (live, ["exact"]))
        case.expect("exit code", program.end(), 0)
    with case.steady() as program:
        case.expect("not recorded", recorded_in(case, program), ("", []))
        for mode in ("exact", "cpu", "exact:flat"):
            with case.attach(program, mode) as attached:
                case.expect(mode, recorded_in(case, program), (str(attached.live), [mode]))
                attached.end()
            case.expect(f"after {mode}", recorded_in(case, program), ("", []))
        case.expect("exit code", program.end(), 0)
