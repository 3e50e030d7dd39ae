# SPDX-License-Identifier: Apache-2.0
"""Hosts and JVMs that are killed."""

import os
import shutil
import subprocess
import time

import recordings
from jvm import ANSWER_S, status, wait_until
from recordings import Recording


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


def attach_and_end(case, mode, after_s):
    """(exit code of sonde, its words) if the JVM is told to end so long after somebody begins to attach."""
    with case.steady() as program:
        command = [case.sonde, "attach", program.pid, "--mode", mode, "--duration", "30s", "-o", case.out]
        with subprocess.Popen(map(str, command), stderr=subprocess.PIPE, text=True) as attaching:
            time.sleep(after_s)
            case.expect("exit code of the program", program.end(), 0)
            words = attaching.communicate(timeout=ANSWER_S)[1]
        case.check("the file .attach_pid is left", not os.path.exists(f".attach_pid{program.pid}"))
    return attaching.returncode, words


def jvm_ends(case):
    """The JVM ends at any moment of attaching: there is a recording of what was, or a sentence, soon, and nothing else."""
    recorded = 0
    for i in range(6 if case.arguments.quick else 60):
        mode = ("cpu:1ms", "exact", "subgraph:root=Steady.work", "bytecode")[i % 4]
        begin = time.monotonic()
        code, words = attach_and_end(case, mode, 0.05 * (i % 12))
        took = time.monotonic() - begin
        case.check(f"{mode} in round {i}: {took:.1f} s", took < 10)
        if code == 0:
            recorded += 1
            case.expect(f"{mode} in round {i}: state", Recording(case.sonde, case.out).status()["state"], "ended")
        else:
            sentences = [line for line in words.splitlines() if line.startswith("sonde")]
            case.check(f"{mode} in round {i}: exit code {code}: {words}", code == 1 and sentences)
        recordings.remove(case.out)
    case.note = f"{recorded} recordings"
