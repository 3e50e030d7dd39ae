# SPDX-License-Identifier: Apache-2.0
"""Runs a program under the oracle or under sonde: what it printed, and its profile. Used by run.py and repeat.py."""

import dataclasses
import hashlib
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "test/apps"))

PREFIXES = ("app/",)
# Under `sonde run` a program is a few times slower at most; -Xcomp compiles everything it touches first.
TIMEOUT_S = 300


class RunFailed(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a user sees of a program: a profiler must not change it."""

    stdout: str
    exit_code: int


def execute(command, timeout=TIMEOUT_S):
    command = [str(part) for part in command]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout, errors="replace")
    except subprocess.TimeoutExpired as error:
        raise RunFailed(f"no end after {timeout} s: {' '.join(command)}") from error
    except OSError as error:
        raise RunFailed(f"{command[0]}: {error.strerror}") from error


def tail(text, lines=15):
    return "\n".join(text.splitlines()[-lines:])


def run_plain(command):
    done = execute(command)
    return Outcome(done.stdout, done.returncode)


def run_oracle(library, app, jdk, out, count="breakpoint"):
    """Counts with liboracle.so into `out`. Valid only if its two ways to find the context never disagreed."""
    include = ",".join(PREFIXES)
    agent = f"-agentpath:{library}=out={out};include={include};count={count}"
    # Without this option aload_0 and getfield become one instruction, and one step. Breakpoints need no help.
    whole = ["-XX:-RewriteFrequentPairs"] if count == "step" else []
    done = execute(app.command(jdk, ["-Xint", *whole, agent]))
    stats_file = pathlib.Path(f"{out}.stats")
    if not stats_file.exists():
        raise RunFailed(f"the oracle wrote nothing (exit code {done.returncode})\n{tail(done.stderr)}")
    stats = json.loads(stats_file.read_text())
    if stats["repaired"] or stats["unpaired"]:
        raise RunFailed(f"the oracle does not trust its own contexts: {stats}")
    return Outcome(done.stdout, done.returncode)


def cached_oracle(library, app, jdk, folder):
    """(outcome, profile file) of the oracle, run again only if the library, the classes or the JDK changed."""
    key = hashlib.sha256(pathlib.Path(library).read_bytes())
    key.update(f"{jdk} {app}".encode())
    for path in sorted(app.classes.glob(f"app/{app.name}*.class")):
        key.update(path.read_bytes())
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / f"{app.name}.{jdk.major}.jsonl"
    note = folder / f"{app.name}.{jdk.major}.json"
    if out.exists() and note.exists():
        known = json.loads(note.read_text())
        if known["key"] == key.hexdigest():
            return Outcome(known["stdout"], known["exit_code"]), out
    note.unlink(missing_ok=True)
    outcome = run_oracle(library, app, jdk, out)
    note.write_text(json.dumps({"key": key.hexdigest(), **dataclasses.asdict(outcome)}))
    return outcome, out


def run_sonde(sonde, command, recording, options=("--mode", "exact")):
    """Records `command` with sonde and writes recording.jsonl. Returns the outcome and that file."""
    recording.parent.mkdir(parents=True, exist_ok=True)
    recording.unlink(missing_ok=True)
    out = recording.with_suffix(".jsonl")
    done = execute([sonde, "run", *options, "-o", recording, "--", *command])
    if not recording.exists():
        raise RunFailed(f"sonde run wrote no recording (exit code {done.returncode})\n{tail(done.stderr)}")
    exported = execute([sonde, "export", recording, "--to", "jsonl", "-o", out])
    if exported.returncode != 0:
        raise RunFailed(f"sonde export: exit code {exported.returncode}\n{tail(exported.stderr)}")
    return Outcome(done.stdout, done.returncode), out
