# SPDX-License-Identifier: Apache-2.0
"""Hosts and JVMs that are killed."""

import shutil

from jvm import status, wait_until
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
