# SPDX-License-Identifier: Apache-2.0
"""What the cases have in common: a JDK, a folder, a program that runs, and what is wrong."""

from jvm import Attached, Steady
from recordings import Failed, execute


RUNS = 300  # of work(), where something is counted


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

    def launched(self, mode, *options):
        """A program that `sonde run` records into case.out."""
        run = [str(self.sonde), "run", "--mode", mode, "-o", str(self.out), *options, "--"]
        program = Steady(self.jdk, self.arguments.work / "classes", prefix=run)
        program.pid = program.children()[0]
        return program

    def attach(self, program, mode, out=None, *options):
        return Attached(self.sonde, program.pid, out or self.out, "--mode", mode, *options)

    def ctl(self, program, *words):
        done = execute([self.sonde, "ctl", program.pid, *words])
        self.check(f"ctl {words}: {done.stderr}", done.code == 0)

    def record_twice(self, program, mode, runs, *options, meanwhile=lambda: None):
        """The recording of so many runs, a stop, runs that are not in it, a start and as many runs again."""
        with self.attach(program, mode, None, *options) as attached:
            program.tell(f"run {runs}")
            self.ctl(program, "stop", mode.split(":")[0])
            program.tell("run 77")
            self.ctl(program, "start", mode)
            program.tell(f"run {runs}")
            meanwhile()
            return attached.end()

    def expect_no_exact(self, program, because):
        """Two modes that change the same classes cannot be on at once."""
        refused = execute([self.sonde, "ctl", program.pid, "start", "exact"])
        self.check(f"exact besides: {refused.stderr}", refused.code == 1 and because in refused.stderr)


def samples_in(recording):
    try:
        return recording.status().get("time_sampling", {}).get("cpu_samples", 0)
    except Failed:
        return 0


def dump(case, program, name, what=""):
    """[words of a line of bytecode_dump.cc]"""
    out = case.folder / name
    program.jcmd("JVMTI.agent_load", case.arguments.dump, f"{what}{out}")
    return [line.split() for line in out.read_text().splitlines()]


def bytecodes_of(case, program, name):
    return {line[0]: line[1] for line in dump(case, program, name) if len(line) == 2}
