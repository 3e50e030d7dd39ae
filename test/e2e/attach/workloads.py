# SPDX-License-Identifier: Apache-2.0
"""Real programs: their results while modes are switched, their speed afterwards. Not in CI."""

import os
import pathlib
import shlex
import signal
import statistics
import subprocess
import threading
import time

import recordings
from case import Skipped, samples_in
from jvm import Attached, Child, wait_until
from recordings import Recording, execute

SUBGRAPH_ROOTS = {
    "h2": "org.h2.command.Command.executeUpdate",
    "ecj": "org.eclipse.jdt.internal.compiler.parser.Parser.parse",
    "xalan": "org.apache.xalan.transformer.TransformerImpl.*",
    "jython": "org.python.core.PyObject.__call__",
    "lucene": "org.apache.lucene.search.IndexSearcher.search",
}


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


def switch_modes(case, name, process):
    switches = 0
    wait_until("a JVM", lambda: java_below(process.pid) is not None, 20)
    pid = java_below(process.pid)
    time.sleep(0.5)
    while process.poll() is None:
        root = SUBGRAPH_ROOTS.get(name, "*.run")
        modes = ("exact", "cpu:1ms", f"subgraph:root={root}", "exact:flat", "bytecode", "wall:5ms", f"region:{root}")
        mode = modes[switches % len(modes)]
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


class Workload(Child):
    """A workload without end. It stands still but for the iterations that are asked for, so that two of them do not
    disturb each other."""

    def __init__(self, case, folder, name):
        environment = {**os.environ, "JAVA_HOME": str(case.jdk.home), "ITERS": "1000000", "WL_PRINT": "1"}
        command = shlex.split(execute([folder / "run.sh", name, "small"], env=environment).stdout)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.times = []  # of iterations: ms of CPU time of the main thread
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            words = line.split()
            if words[:1] == ["iter"]:
                self.times.append(float(words[words.index("main_cpu_ms") + 1]))

    def run(self):
        self.process.send_signal(signal.SIGCONT)

    def iterate(self, count):
        """What the next iterations take that begin from now on."""
        self.run()
        first = len(self.times) + 1
        wait_until("iterations", lambda: len(self.times) >= first + count, 120)
        self.process.send_signal(signal.SIGSTOP)
        return self.times[first : first + count]


def throughput(case):
    """h2: numbers within a second of attaching; after 20 recordings that count, iterations take what they take in a JVM
    that was left alone, once the JVM has compiled its methods again. Not in CI."""
    folder = pathlib.Path(os.environ.get("SONDE_WORKLOADS", ""))
    if not (folder / "run.sh").exists():
        raise Skipped("no SONDE_WORKLOADS")
    with Workload(case, folder, "h2") as alone, Workload(case, folder, "h2") as recorded:
        alone.iterate(250)
        recorded.iterate(250)
        recorded.run()
        begin = time.monotonic()
        with Attached(case.sonde, recorded.process.pid, case.out, "--mode", "cpu:1ms") as attached:
            wait_until("samples", lambda: samples_in(Recording(case.sonde, attached.live)) > 0, 5)
            took = time.monotonic() - begin
            attached.end()
        soon = []
        for _ in range(20):
            recorded.run()
            done = execute([case.sonde, "attach", recorded.process.pid, "--mode", "exact", "--duration", "100ms", "-o", case.out])
            case.check(f"attach: {done.stderr}", done.code == 0)
            soon.append(statistics.median(recorded.iterate(15)[-3:]))
        recorded.iterate(250)
        pairs = [(statistics.median(alone.iterate(20)), statistics.median(recorded.iterate(20))) for _ in range(4)]
    ratio = statistics.median(b / a for a, b in pairs)
    case.note = (
        f"first numbers after {took * 1000:.0f} ms; iterations of {statistics.median(soon):.0f} ms soon after a recording; 250 later "
        f"{pairs[-1][1]:.1f} ms, {pairs[-1][0]:.1f} ms in a JVM left alone; ratio {ratio:.3f}"
    )
    case.check(f"first numbers after {took:.2f} s", took < 1)
    case.check(f"slower afterwards: {case.note}", ratio < 1.1)
