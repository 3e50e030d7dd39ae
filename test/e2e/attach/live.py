# SPDX-License-Identifier: Apache-2.0
"""What a person sees while a program runs, and modes that go on and off."""

import os
import re
import shutil
import subprocess
import time

from case import Skipped, samples_in
from jvm import status, wait_until
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
