# SPDX-License-Identifier: Apache-2.0
"""Runs programs with and without sonde and reads recordings back. Used by stress/run.py and robust/run.py."""

import collections
import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "test/apps"))

from build import find_jdks  # noqa: E402  test/apps

SOURCES = ROOT / "test/apps/stress"
TIMEOUT_S = 240
PREFIX = "sonde: "  # of what we say on stderr


class Failed(Exception):
    """A case cannot go on; the message says why."""


@dataclasses.dataclass(frozen=True)
class Ended:
    """What a user sees of a program: a profiler must not change it."""

    code: int
    stdout: str
    stderr: str

    def complaints(self):
        """The program's own words on stderr, without ours: a line with our prefix and what is indented below it."""
        own, ours = [], False
        for line in self.stderr.splitlines():
            ours = line.startswith(PREFIX) or (ours and line.startswith(" " * len(PREFIX)))
            if not ours:
                own.append(line)
        return "\n".join(own)


def execute(command, timeout=TIMEOUT_S, **options):
    command = [str(part) for part in command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout, **options)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"no end after {timeout} s: {' '.join(command)}") from error
    # Python says -9 where a shell says 137.
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return Ended(code, done.stdout, done.stderr)


def compile_programs(folder, jdks, sources=SOURCES, newer_to="classes21"):
    """SOURCES -> FOLDER/classes (Java 17), and what is in a folder `21` -> FOLDER/NEWER_TO, if there is a JDK for it."""
    files = sorted(sources.rglob("*.java"))
    stamp = folder / "stamp"
    if stamp.exists() and all(file.stat().st_mtime < stamp.stat().st_mtime for file in files):
        return
    for name in {"classes", newer_to}:
        shutil.rmtree(folder / name, ignore_errors=True)
    newer = [file for file in files if file.parent.name == "21"]
    older = [file for file in files if file not in newer]
    for release, jdk, name, chosen in ((17, jdks[0], "classes", older), (21, jdks[-1], newer_to, newer)):
        if jdk.major < release or not chosen:
            continue
        javac = [jdk.home / "bin/javac", "-nowarn", "-Xlint:none", "-g", "--release", release, "-d", folder / name]
        done = execute([*javac, *chosen])
        if done.code != 0:
            raise Failed(done.stderr)
    stamp.touch()


def remove(recording):
    recording.unlink(missing_ok=True)
    shutil.rmtree(f"{recording}.live", ignore_errors=True)


class Recording:
    """A NAME.sonde file or NAME.sonde.live folder, read through the command line as users do."""

    def __init__(self, sonde, path):
        self.sonde, self.path = sonde, path

    def _read(self, *arguments):
        done = execute([self.sonde, *arguments])
        if done.code != 0:
            raise Failed(f"sonde {' '.join(map(str, arguments))}: exit code {done.code}\n{done.stderr}")
        return done.stdout

    def status(self):
        return json.loads(self._read("status", self.path, "--json"))

    def counters(self):
        """{name: value} of what was left out or lost."""
        return {counter["name"]: counter["value"] for counter in self.status()["counters"]}

    def report(self, *options):
        return json.loads(self._read("report", self.path, "--top", "0", "--json", *options))

    def export(self, metric):
        """Lines of collapsed stacks."""
        return self._read("export", self.path, "--to", "collapsed", "--metric", metric).splitlines()

    def sums(self, *options):
        """{pkg/Class.method: (calls, bytecodes)}, overloads added up."""
        sums = collections.defaultdict(lambda: (0, 0))
        for row in self.report(*options)["rows"]:
            name = f"{row.get('class', '')}.{row.get('method', '')}"
            calls, bytecodes = sums[name]
            sums[name] = (calls + row["self"]["calls"], bytecodes + row["self"]["bytecodes"])
        return sums

    def contexts(self):
        """The lines of the jsonl export; large for deep trees."""
        return [json.loads(line) for line in self._read("export", self.path, "--to", "jsonl").splitlines()]


def record(sonde, out, command, options=(), **process):
    """(what the user saw, the recording). The recording is the file, or the folder if that was left."""
    remove(out)
    ended = execute([sonde, "run", "-o", out, *options, "--", *command], **process)
    live = pathlib.Path(f"{out}.live")
    return ended, Recording(sonde, live if live.exists() and not out.exists() else out)
