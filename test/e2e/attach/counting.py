# SPDX-License-Identifier: Apache-2.0
"""Counts of a program that ran already: right, apart from each other, and gone when they end."""

import time

import recordings
from case import RUNS, bytecodes_of
from jvm import status
from recordings import Failed, execute

COUNTED = ("Steady.work", "Steady.recurse", "Steady.half", "Steady$Pair.area", "Steady$Square.area")


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
        sums = case.record_twice(program, "exact", RUNS).sums()
        for name in COUNTED:
            case.expect(f"twice: {name}", sums[name], tuple(2 * n for n in expected[name]))
        case.expect("exit code", program.end(), 0)


def make_spoiler(case):
    """The jar of Spoiler.java."""
    jar, manifest = case.folder / "spoiler.jar", case.folder / "manifest"
    manifest.write_text("Premain-Class: Spoiler\nCan-Retransform-Classes: true\n")
    classes = case.arguments.work / "classes"
    files = [word for path in classes.glob("Spoiler*.class") for word in ("-C", classes, path.name)]
    done = execute([case.jdk.home / "bin/jar", "--create", "--file", jar, "--manifest", manifest, *files])
    if done.code != 0:
        raise Failed(done.stderr)
    return jar


def refused_class(case):
    """A class that the JVM refuses, by another agent's fault, is not counted. All others of its batch are, which is halved until it is
    alone and not taken apart."""
    expected = expected_counts(case)
    with case.steady(f"-javaagent:{make_spoiler(case)}=Steady$Square") as program:
        right = program.tell(f"run {RUNS}")
        with case.attach(program, "exact") as attached:
            batches, classes, *_ = status(case.sonde, program.pid)["batches"]
            case.expect("result", program.tell(f"run {RUNS}"), right)
            recording = attached.end()
        sums = recording.sums()
        case.note = f"{batches} batches of {classes} classes"
        for name in COUNTED:
            case.expect(name, sums.get(name, (0, 0)), (0, 0) if "Square" in name else expected[name])
        case.expect("refused classes", recording.counters().get("ClassesRefused"), 1)
        case.check(case.note, classes > 300 and batches < 40)
        case.expect("result afterwards", program.tell(f"run {RUNS}"), right)
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


def sampled(case, program, options, runs):
    with case.attach(program, "bytecode:granularity=500", None, *options) as attached:
        program.tell(f"run {runs}")
        return attached.end()


def bytecode(case):
    """Samples by bytecodes after attach: the sum is that of exact counting to the last bytecode, methods have their
    share, contexts begin with what was running already, and a second recording has the same samples."""
    runs = 10 * RUNS
    with case.steady() as program:
        program.tell("run 2000")
        once = 0
        for options in (["--no-jdk"], []):
            with case.attach(program, "exact", None, *options) as attached:
                program.tell(f"run {runs}")
                exact = attached.end()
            expected, first, second = exact.sums(), sampled(case, program, options, runs), sampled(case, program, options, runs)
            for recording in (first, second):
                sums = recording.sums()
                total, counted = (sum(value[1] for value in of.values()) for of in (sums, expected))
                case.check(f"{options}: {total} bytecodes instead of {counted}", abs(total - counted) <= (0 if options else 1e-3 * counted))
                off = {name: sums[name][1] / expected[name][1] for name in ("Steady.recurse", "Steady.work")}
                case.check(f"{options}: shares {off}", all(abs(share - 1) < 0.1 for share in off.values()))
                case.expect(f"{options}: damage", recording.status()["damage"]["count"], 0)
                roots = {line["stack"][0].split("(")[0] for line in recording.contexts() if line["thread"] == "main" and "samples" in line}
                case.expect(f"{options}: where contexts begin", roots, {"Steady.main"})
            if options:
                once = counted
                case.expect("the same samples again", second.contexts(), first.contexts())
        twice = case.record_twice(program, "bytecode:granularity=500", runs, "--no-jdk",
                                  meanwhile=lambda: case.expect_no_exact(program, "mode bytecode"))  # fmt: skip
        total = sum(value[1] for value in twice.sums().values())
        case.check(f"twice: {total} bytecodes, once {once}", abs(total - 2 * once) < 1e-4 * once)
        for context in ("shadow", "hash", "jvm-trap", "hash-trap"):
            refused = execute([case.sonde, "attach", program.pid, "--mode", f"bytecode:context={context}", "-o", case.out])
            case.check(f"{context}: {refused.stderr}", refused.code == 1 and f"context={context}" in refused.stderr)
        case.expect("exit code", program.end(), 0)


def compiler_thresholds(program):
    return [line.split("{")[0] for line in program.jcmd("VM.flags", "-all").splitlines() if "Tier3" in line and "Threshold" in line]


def removal(case):
    """After a recording, classes have the bytecode that they had, and the program its speed."""
    with case.steady("-XX:+EnableDynamicAgentLoading") as program:
        program.spin(1500)
        before_speed = program.spin(1000)
        before = bytecodes_of(case, program, "before")
        thresholds = compiler_thresholds(program)
        with case.attach(program, "exact") as attached:
            batches, classes, took, _, _, paused, _, longest = status(case.sonde, program.pid)["batches"]
            during = bytecodes_of(case, program, "during")
            # Compilers wait only until all classes are changed.
            case.expect("thresholds of compilers while it is counted", compiler_thresholds(program), thresholds)
            during_speed = program.spin(500)
            attached.end()
        after = bytecodes_of(case, program, "after")
        case.expect("thresholds of compilers afterwards", compiler_thresholds(program), thresholds)
        changed = [name for name, code in before.items() if during.get(name) != code]
        case.check(f"only {len(changed)} of {len(before)} methods were changed", len(changed) > len(before) / 3)
        # The JVM merges constant pools when it changes a class, so that an index in the code may be another one.
        longer = [name for name, code in before.items() if len(after.get(name, code)) != len(code)]
        other = [name for name, code in before.items() if after.get(name, code) != code]
        case.check(f"{len(longer)} methods are not what they were: {longer[:3]}", not longer)
        case.check(f"{len(other)} methods are not what they were: {other[:3]}", len(other) < len(before) / 200)
        speed = program.speed_again(before_speed)
        case.note = f"calls per ms: {before_speed:.0f} before, {during_speed:.0f} while counted, {speed:.0f} after"
        case.note += f"; {batches} batches of {classes} classes, {took / 1e6:.0f} ms, of which {paused / 1e6:.0f} ms stopped, {longest / 1e6:.1f} ms at most"
        case.check(f"slower afterwards: {case.note}", speed > 0.6 * before_speed)
        case.check(f"pauses: {case.note}", 0 < longest <= paused < took and classes > 300)
        case.expect("exit code", program.end(), 0)
