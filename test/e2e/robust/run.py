#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [SONDE]: whatever happens to the recording, to sonde or to the JVM, the program must not notice, and what was
counted must be readable; whatever is wrong with the input, the answer is a sentence and an exit code.

Exit code 1: a case failed. 77: something needed is not built.

  --cases A,B   --jdk 17,25     only these
  --quick       oldest JDK only
"""

import contextlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "stress"))

import recordings  # noqa: E402
from recordings import Ended, Failed, Recording, execute  # noqa: E402
from runner import Skipped, chosen, make_parser, passes, prepare, summary  # noqa: E402

NOBODY = 65534
COMMANDS = (["report"], ["report", "--tree"], ["status"], ["export", "--to", "jsonl", "-o", "/dev/null"])


class Case:
    """A folder of its own, the program, and what is wrong."""

    def __init__(self, arguments, jdk, folder):
        self.sonde, self.jdk, self.folder = arguments.sonde, jdk, folder
        self.classes = arguments.classes / "classes"
        self.out = folder / "x.sonde"
        self.live = folder / "x.sonde.live"
        self.problems, self.note = [], ""

    def expect(self, what, actual, expected):
        if actual != expected:
            self.problems.append(f"{what}: {str(actual)[:400]} instead of {str(expected)[:400]}")

    def check(self, what, holds):
        if not holds:
            self.problems.append(what)

    def program(self, *words, jvm=()):
        return [self.jdk.java, *jvm, "-cp", self.classes, "app.Behave", *words]

    def sonde_run(self, command, *options, **process):
        return execute([self.sonde, "run", "-o", self.out, *options, "--", *command], **process)

    def expect_same(self, *words, options=(), jvm=(), **process):
        """The program behaves as without sonde. Returns what was seen."""
        command = self.program(*words, jvm=jvm)
        plain = execute(command, **process)
        ended = self.sonde_run(command, *options, **process)
        self.expect(f"exit code of {words}", ended.code, plain.code)
        self.expect(f"stdout of {words}", ended.stdout, plain.stdout)
        self.expect(f"stderr of {words}", ended.complaints(), plain.complaints())
        return ended

    def expect_refusal(self, what, ended, codes, *words):
        """An error with a sentence that has these words, and nothing started."""
        self.check(f"{what}: exit code {ended.code}, not {codes}", ended.code in codes)
        self.check(f"{what}: stdout is {ended.stdout!r}", not ended.stdout)
        for word in words:
            self.check(f"{what}: `{word}` is not in {ended.stderr!r}", word in ended.stderr)

    def recording(self):
        return Recording(self.sonde, self.out if self.out.exists() else self.live)

    def clean(self):
        recordings.remove(self.out)


class Busy:
    """The program Behave busy under sonde, while it runs."""

    def __init__(self, case, *options, seconds=30):
        command = [case.sonde, "run", "-o", case.out, *options, "--", *case.program("busy", seconds)]
        self.case = case
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        self.calls = 0
        self.read(3)
        self.jvm = Recording(case.sonde, case.live).status()["pid"]

    def read(self, lines):
        for _ in range(lines):
            line = self.process.stdout.readline()
            if not line.strip().isdigit():
                raise Failed(f"the program said {line!r}\n{self.process.stderr.read() if not line else ''}")
            self.calls = int(line)

    def end(self):
        """Waits; the last number printed is in self.calls."""
        try:
            out, err = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired as error:
            self.stop()
            raise Failed("no end after 60 s") from error
        numbers = [int(line) for line in out.split() if line.isdigit()]
        self.calls = max([self.calls, *numbers])
        code = self.process.returncode
        return Ended(code if code >= 0 else 128 - code, out, err)

    def stop(self):
        for pid in (self.process.pid, getattr(self, "jvm", 0)):
            with contextlib.suppress(ProcessLookupError):
                if pid:
                    os.kill(pid, signal.SIGKILL)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stop()
        self.process.communicate()


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def steps_of(recording):
    return recording.sums("--include", "app.*")["app/Behave.step"][0]


def exit_codes(case):
    for words, code in ((["exit", 0], 0), (["exit", 3], 3), (["throw"], 1), (["known"], 0)):
        ended = case.expect_same(*words)
        case.expect("exit code", ended.code, code)
        case.check("no recording was written", case.out.exists() and not case.live.exists())


def streams(case):
    text = "\nein Glas Bier, 1\u20ac\n\tno newline at the end " * 3000  # backwards, on stderr, it ends with one
    case.expect_same("echo", input=text)
    ended = case.sonde_run([case.jdk.java, "-version"])
    case.expect("exit code of java -version", ended.code, 0)
    case.check("java -version says nothing", "version" in ended.stderr)
    case.clean()


def signals(case):
    for name, number, to, code in (
        ("SIGTERM to sonde", signal.SIGTERM, "sonde", 143),
        ("SIGTERM to the JVM", signal.SIGTERM, "jvm", 143),
        ("SIGINT to both (Ctrl-C)", signal.SIGINT, "group", 130),
        ("SIGKILL to the JVM", signal.SIGKILL, "jvm", 137),
    ):
        with Busy(case) as busy:
            if to == "group":
                os.killpg(busy.process.pid, number)
            else:
                os.kill(busy.process.pid if to == "sonde" else busy.jvm, number)
            ended = busy.end()
            case.expect(f"exit code after {name}", ended.code, code)
            state = case.recording().status()["state"]
            case.expect(f"state after {name}", state, "killed" if number == signal.SIGKILL else "ended")
            calls = steps_of(case.recording())
            case.check(f"{name}: {calls} calls recorded, {busy.calls} were made", calls >= busy.calls)
        case.clean()


def kill_both(case):
    """kill -9 of sonde: the program goes on; then of the JVM: nothing is lost."""
    with Busy(case) as busy:
        os.kill(busy.process.pid, signal.SIGKILL)
        time.sleep(0.3)
        before = steps_of(case.recording())
        busy.read(5)
        case.check("the JVM died with sonde", is_alive(busy.jvm))
        case.expect("state", case.recording().status()["state"], "running")
        between = steps_of(case.recording())
        case.check(f"counting stopped with sonde: {before}, then {between}", between > before)
        time.sleep(1)
        busy.read(1)
        os.kill(busy.jvm, signal.SIGKILL)
        deadline = time.monotonic() + 10
        while is_alive(busy.jvm) and time.monotonic() < deadline:
            time.sleep(0.05)
        after = steps_of(case.recording())
        case.check(f"calls were lost: {between}, then {after}", after >= max(between, busy.calls))
        # Who inherits the JVM may not collect it, as in containers without an init: then its pid still exists.
        if not pathlib.Path(f"/proc/{busy.jvm}").exists():
            case.expect("state", case.recording().status()["state"], "killed")
        case.note = f"{between:,} calls, {after:,} a second later"


def live(case):
    """Read while classes are loaded and the tree grows: never damaged, never less than before, at last all of it."""
    command = [case.sonde, "run", "-o", case.out, "--", *case.program("contexts", 19)]
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        reads, before = 0, 0
        while process.poll() is None:
            ended = execute([case.sonde, "report", case.live, "--top", "1", "--json"])
            if ended.code != 0:  # not begun yet, or finished in this moment
                case.check(f"read {reads}: exit code {ended.code}: {ended.stderr}", ended.code == 1)
                continue
            report = json.loads(ended.stdout)
            reads += 1
            case.expect(f"damage in read {reads}", report["damage"], {"count": 0, "notes": []})
            case.check(f"read {reads}: {report['sum']['calls']} calls after {before}", report["sum"]["calls"] >= before)
            before = report["sum"]["calls"]
    after = case.recording().report()["sum"]["calls"]
    case.check(f"{after} calls at the end, {before} before", after >= before)
    sums = case.recording().sums("--include", "app.*")
    case.expect("calls", sums["app/Behave.left"][0] + sums["app/Behave.right"][0], 2**20 - 1)
    case.note = f"{reads} reads"


def contexts_counted(case, depth):
    """The recording of Behave contexts is incomplete, says so, and has nothing that did not happen."""
    recording = case.recording()
    counters = recording.counters()
    lost = {name: counters[name] for name in ("TreesOverflowed", "RecordsDropped", "ThreadsWithoutTree") if name in counters}
    case.check(f"the loss is not shown: {counters}", lost)
    case.expect("damage", recording.status()["damage"], {"count": 0, "notes": []})
    sums = recording.sums("--include", "app.*")
    real = 2 ** (depth + 1) - 1
    counted = sums["app/Behave.left"][0] + sums["app/Behave.right"][0]
    case.check(f"{counted} calls of {real}", counted <= real)
    case.check(f"{sums['app/Behave.step'][0]} calls of step, there are 1000", sums["app/Behave.step"][0] <= 1000)
    everything = recording.report()["sum"]["calls"]
    case.note = f"{counted:,} of {real:,} calls in place, {everything:,} with the overflow; {lost}"
    return counted


def memory_limit(case):
    for memory, depth in (("2M", 16), ("1M", 14), ("9M", 17)):
        case.expect_same("contexts", depth, options=["--memory", memory])
        contexts_counted(case, depth)
        case.clean()


def memory_sums(case):
    """What does not fit is not lost: with the overflow, calls and bytecodes are those of a run with room for all."""
    for words in (("overflow", 14), ("deep", 20_000)):
        sums = {}
        for memory in ("1G", "1M"):
            case.expect_same(*words, jvm=["-Xss64m"], options=["--include", "app.*", "--memory", memory])
            report = case.recording().report()
            sums[memory] = report["sum"]
            case.expect(f"damage of {words} with {memory}", report["damage"], {"count": 0, "notes": []})
            overflowed = case.recording().counters().get("TreesOverflowed", 0)
            case.check(f"{words} with {memory}: {overflowed} trees overflowed", (overflowed != 0) == (memory == "1M"))
            case.clean()
        case.expect(f"sums of {words}", sums["1M"], sums["1G"])


def memory_killed(case):
    """What overflowed is there at any moment, and after kill -9."""
    command = [case.sonde, "run", "-o", case.out, "--memory", "1M", "--", *case.program("contexts", 26)]
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        before, deadline = 0, time.monotonic() + 60
        while before < 1000 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.2)
            if (case.live / "arena").exists():
                with contextlib.suppress(Failed):
                    before = case.recording().sums().get(".[overflow]", (0, 0))[0]
        os.kill(case.recording().status()["pid"], signal.SIGKILL)
        process.communicate(timeout=60)
    after = case.recording().sums().get(".[overflow]", (0, 0))[0]
    case.check(f"overflow of {before} calls, then {after}", 1000 <= before <= after)
    case.note = f"{after:,} calls in the overflow"


def disk_full(case):
    mount = case.folder / "small"
    mount.mkdir()
    for size, depth in (("24m", 18), ("4m", 14), ("1200k", 14), ("200k", 10)):
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", mount], capture_output=True).returncode != 0:
            raise Skipped("mounting a tmpfs is not permitted")
        try:
            case.out, case.live = mount / "x.sonde", mount / "x.sonde.live"
            plain = execute(case.program("contexts", depth))
            ended = case.sonde_run(case.program("contexts", depth))
            case.expect(f"{size}: exit code", ended.code, plain.code)
            case.expect(f"{size}: stdout", ended.stdout, plain.stdout)
            case.expect(f"{size}: stderr", ended.complaints(), plain.complaints())
            if "without being recorded" not in ended.stderr:
                contexts_counted(case, depth)
        finally:
            subprocess.run(["umount", "-l", mount], check=True)


def folder_removed(case):
    with Busy(case, seconds=3) as busy:
        shutil.rmtree(case.live)
        ended = busy.end()
        case.expect("exit code", ended.code, 0)
        case.check("the program did not end well", ended.stdout.endswith("done\n"))
        case.check(f"sonde says {ended.stderr!r}", "sonde: " in ended.stderr)


def no_permission(case):
    command = case.program("exit", 0)
    case.out = case.folder / "missing" / "x.sonde"
    case.expect_refusal("a folder that does not exist", case.sonde_run(command), (1, 2), "x.sonde")
    case.out = case.folder / "closed" / "x.sonde"
    case.out.parent.mkdir(mode=0o555)
    as_nobody = {"user": NOBODY} if os.geteuid() == 0 else {}
    if as_nobody and execute([case.sonde, "--version"], **as_nobody).code != 0:
        raise Skipped("the binary cannot be executed by nobody")
    case.expect_refusal("no permission", case.sonde_run(command, **as_nobody), (1, 2), "ermission")


def usage(case):
    program = case.program("exit", 0)
    run = case.sonde_run
    case.expect_refusal("unknown mode", run(program, "--mode", "guess"), (2,), "guess", "exact")
    case.expect_refusal("unknown option", run(program, "--nonsense"), (2,), "nonsense")
    case.expect_refusal("bad --memory", run(program, "--memory", "much"), (2,), "--memory")
    case.expect_refusal("bad --blocks", run(program, "--blocks", "most"), (2,), "--blocks")
    case.expect_refusal("not java", run(["ls"]), (1, 2), "java")
    case.expect_refusal("not java, by path", run(["/bin/ls"]), (1, 2), "java")
    case.expect_refusal("not found", run(["no-such-java"]), (1, 2), "no-such-java")
    case.expect_refusal("not found, by path", run([case.folder / "bin/java"]), (1, 2), "bin/java")
    case.expect_refusal("nothing to run", execute([case.sonde, "run", "-o", case.out, "--"]), (2,))
    jdk = case.folder / "jdk-11"
    (jdk / "bin").mkdir(parents=True)
    (jdk / "release").write_text('IMPLEMENTOR="Nobody"\nJAVA_VERSION="11.0.2"\n')
    (jdk / "bin/java").write_text("#!/bin/sh\necho started\n")
    (jdk / "bin/java").chmod(0o755)
    case.expect_refusal("JDK 11", run([jdk / "bin/java", "-version"]), (1, 2), "11.0.2", "17")
    (jdk / "release").write_text('JAVA_VERSION="1.8.0_392"\n')
    case.expect_refusal("JDK 8", run([jdk / "bin/java", "-version"]), (1, 2), "1.8", "17")
    case.check("something was left behind", not case.live.exists() and not case.out.exists())
    case.live.mkdir()
    case.expect_refusal("a live folder that exists", run(program), (1, 2), "x.sonde.live", "exist")
    case.live.rmdir()


def same_name_twice(case):
    case.expect_same("known")
    ended = case.expect_same("exit", 3)
    case.check(f"the recording is still that of before: {ended.stderr}", "app/Behave.known" not in case.recording().sums())


def jvm_refuses(case):
    command = [case.jdk.java, "-XX:+NoSuchOption", "-cp", case.classes, "app.Behave", "exit", "0"]
    plain = execute(command)
    ended = case.sonde_run(command)
    case.expect("exit code", ended.code, plain.code)
    case.check("a folder without a recording is left behind", not case.live.exists())


def surroundings(case):
    """What the program is given: its arguments, the stack its user asked for, signals that are ignored."""
    case.expect_same("arguments", "1", "-Xss1m", "--", "-agentpath:x", "a b", "*", "")
    case.expect_same("deep", 2000, jvm=["-Xss512k"])
    case.expect_same("deep", 9000, jvm=["-Xss512m"])
    case.expect_same("deep", 9000, jvm=["-Xss1g"])
    case.expect_same("deep", 100_000, env={**os.environ, "JDK_JAVA_OPTIONS": "-Xss64m"})
    options = case.folder / "options with spaces"
    options.write_text("-Xss64m")
    case.expect_same("deep", 100_000, jvm=[f"@{options}"])

    case.expect_same("flags")
    case.expect_same("flags", jvm=["-XX:Tier3CompileThreshold=12345", "-XX:Tier3BackEdgeThreshold=2000000"])

    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGQUIT, signal.SIG_IGN)

    case.expect_same("signals", jvm=["-Xrs"], preexec_fn=ignore)  # as with nohup or in the background of a script


def agent_cannot_start(case):
    """The folder can be made, but not the arena: the program runs, nothing useless is left, the next run works."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))

    ended = case.expect_same("known", preexec_fn=limit)
    case.check(f"it is not said that nothing is recorded: {ended.stderr}", "without being recorded" in ended.stderr)
    case.check("a folder without a recording is left behind", not case.live.exists())
    case.clean()


def filters(case):
    def sums(*options):
        case.expect_same("known", options=options)
        found = case.recording().sums()
        jdk = sum(bytecodes for name, (_, bytecodes) in found.items() if name.startswith(("java/", "jdk/", "sun/")))
        return {name: value for name, value in found.items() if name.startswith("app/")}, jdk

    everything, jdk = sums()
    case.expect("Helper.f", everything["app/helper/Helper.f"], (300, 1200))
    case.expect("Behave.g", everything["app/Behave.g"][0], 200)
    case.expect("Behave.half, precise", everything["app/Behave.half"], (50, 150))
    case.check("nothing of the JDK is there", jdk > 1000)
    blocks, _ = sums("--blocks", "default")
    case.expect("Behave.half, whole blocks", blocks["app/Behave.half"], (50, 500))
    case.expect("Helper.f, whole blocks", blocks["app/helper/Helper.f"], (300, 1200))
    included, jdk = sums("--include", "app.helper.*")
    case.expect("--include app.helper.*", (included, jdk), ({"app/helper/Helper.f": (300, 1200)}, 0))
    excluded, jdk = sums("--exclude", "app.helper.*")
    case.expect("--exclude: Helper.f", excluded.get("app/helper/Helper.f"), None)
    case.expect("--exclude: Behave.g", excluded["app/Behave.g"], everything["app/Behave.g"])
    case.check("--exclude: the JDK is gone", jdk > 1000)
    without, jdk = sums("--no-jdk")
    case.expect("--no-jdk: bytecodes of the JDK", jdk, 0)
    case.expect("--no-jdk: the application", without, everything)
    both, jdk = sums("--include", "app.*", "--exclude", "app.helper.*")
    case.expect("--include and --exclude", sorted(both), sorted(set(everything) - {"app/helper/Helper.f"}))


def expect_readable_or_refused(case, what, path, must_fail):
    """None of the commands crashes or hangs; a failure says something."""
    for command in COMMANDS:
        ended = execute([case.sonde, command[0], path, *command[1:]], timeout=30)
        label = f"{what}: {' '.join(command)}"
        case.check(f"{label}: exit code {ended.code}: {ended.stderr[-300:]}", ended.code in ((1, 2) if must_fail else (0, 1, 2)))
        if ended.code != 0:
            case.check(f"{label}: {ended.stderr!r} has no next step", ended.stderr.startswith("sonde: ") and len(ended.stderr) > 40)


def damaged(case, original, target, path, rounds):
    """Damages the file `original` in many ways, each time as `target`, and reads `path`."""
    whole = original.read_bytes()
    rng = random.Random(len(whole))

    def attempt(what, content, must_fail=False):
        target.write_bytes(content)
        expect_readable_or_refused(case, what, path, must_fail)

    attempt("empty", b"", must_fail=True)
    attempt("zeros", bytes(len(whole)), must_fail=True)
    attempt("noise", rng.randbytes(len(whole)), must_fail=True)
    attempt("text", b"hello\n" * 1000, must_fail=True)
    for size in (1, 8, 16, 100, 4096, 8191, 8192, 8193, 20000, len(whole) // 2, len(whole) - 4096, len(whole) - 1):
        if 0 < size < len(whole):
            attempt(f"cut to {size} of {len(whole)} bytes", whole[:size], must_fail=size < 4096)
    for i in range(rounds):
        content = bytearray(whole)
        for _ in range(rng.choice((1, 10, 100, 1000))):
            content[rng.randrange(rng.choice((200, 8192, len(content))))] = rng.randrange(256)
        attempt(f"bytes changed, round {i}", bytes(content))
    for i in range(rounds // 2):
        content = bytearray(whole)
        at = rng.randrange(len(content) - 4096)
        content[at : at + 4096] = rng.randbytes(4096) if i % 2 else bytes(4096)
        attempt(f"4096 bytes changed at {at}", bytes(content))
    return whole


def damaged_file(case):
    case.expect_same("known")
    copy = case.folder / "copy.sonde"
    damaged(case, case.out, copy, copy, rounds=12)


def damaged_arena(case):
    with Busy(case, "--no-jdk") as busy:
        os.kill(busy.process.pid, signal.SIGKILL)
        os.kill(busy.jvm, signal.SIGKILL)
    # The file is sparse and 8 GB long; what is used is at its start.
    used = case.folder / "used"
    with open(case.live / "arena", "rb") as file:
        used.write_bytes(file.read(1 << 20))
    copy = case.folder / "copy.sonde.live"
    copy.mkdir()
    case.expect("the copy is readable", execute([case.sonde, "status", case.live]).code, 0)
    whole = damaged(case, used, copy / "arena", copy, rounds=20)
    other = bytearray(whole)
    other[8:12] = (77).to_bytes(4, "little")
    (copy / "arena").write_bytes(other)
    ended = execute([case.sonde, "report", copy])
    case.expect_refusal("another version", ended, (1, 2), "version")
    (copy / "arena").unlink()
    case.expect_refusal("no arena", execute([case.sonde, "report", copy]), (1, 2), "arena")
    case.expect_refusal("no file", execute([case.sonde, "report", case.folder / "none.sonde"]), (1, 2), "none.sonde")


CASES = {
    "exit-codes": exit_codes,
    "streams": streams,
    "signals": signals,
    "kill": kill_both,
    "live": live,
    "memory-limit": memory_limit,
    "memory-sums": memory_sums,
    "memory-killed": memory_killed,
    "disk-full": disk_full,
    "folder-removed": folder_removed,
    "no-permission": no_permission,
    "usage": usage,
    "same-name-twice": same_name_twice,
    "jvm-refuses": jvm_refuses,
    "surroundings": surroundings,
    "agent-cannot-start": agent_cannot_start,
    "filters": filters,
    "damaged-file": damaged_file,
    "damaged-arena": damaged_arena,
}


def run_case(arguments, jdk, name):
    with tempfile.TemporaryDirectory(prefix=f"sonde-robust-{name}-") as folder:
        os.chmod(folder, 0o755)
        return passes(Case(arguments, jdk, pathlib.Path(folder)), f"{name:18} jdk {jdk.major:<3}", CASES[name])


def main():
    parser = make_parser(__doc__)
    arguments, jdks = prepare(parser)
    names = chosen(parser, arguments.cases, CASES, "case")
    return summary([run_case(arguments, jdk, name) for jdk in (jdks[:1] if arguments.quick else jdks) for name in names])


if __name__ == "__main__":
    sys.exit(main())
