# SPDX-License-Identifier: Apache-2.0
"""JVMs that run a workload for long, and recordings of them by Sonde and by async-profiler."""
import contextlib
import ctypes
import functools
import os
import pathlib
import shlex
import signal
import struct
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBC = ctypes.CDLL(None, use_errno=True)
SYS_PERF_EVENT_OPEN = 298  # x86-64


def cpu_seconds(pid):
    """CPU time that a process has used, by its clock."""
    return time.clock_gettime(~pid << 3 | 2)


def wait_for_cpu(process, seconds):
    while cpu_seconds(process.pid) < seconds:
        if process.poll() is not None:
            sys.exit(f"{process.args[-3:]}: ended before it had used {seconds:.0f} s of CPU time")
        time.sleep(0.1)


def compile_program(arguments, name):
    """The folder of its classes; one of test/apps/sampler."""
    classes = arguments.work / "classes"
    subprocess.run([f"{arguments.jdk}/bin/javac", "--release", "17", "-nowarn", "-d", classes, ROOT / f"test/apps/sampler/{name}.java"], check=True)
    return classes


def command_of(arguments, workload, options, environment):
    """The workload's, or that of a program of test/apps/sampler: app.Steady."""
    if workload.startswith("app."):
        classes = compile_program(arguments, workload.removeprefix("app."))
        return [f"{arguments.jdk}/bin/java", *options, "-cp", str(classes), workload]
    printed = subprocess.run(["bash", str(arguments.workloads_folder / "run.sh"), workload, arguments.size, *options],
                             env=dict(environment, WL_PRINT="1"), capture_output=True, text=True, check=True).stdout
    return shlex.split(printed)


@contextlib.contextmanager
def running_jvm(arguments, workload, folder, output=subprocess.DEVNULL):
    """A JVM that runs the workload for long; wait_for_cpu until it is warm."""
    environment = dict(os.environ, JAVA_HOME=arguments.jdk, ITERS="1000000", WL_BUILD=str(arguments.work / "build"))
    options = ["-XX:+EnableDynamicAgentLoading", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints", f"-Djava.io.tmpdir={folder}",
               *arguments.jvm.split()]
    process = subprocess.Popen(command_of(arguments, workload, options, environment), env=environment, stdout=output,
                               stderr=subprocess.DEVNULL, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def nothing(_, __, ___, file):
    """No recording: what is measured for it is the bench's own error."""
    pathlib.Path(file).touch()
    yield


@contextlib.contextmanager
def events(_, process, interval, file):
    """Perf events as profilers use them, on all threads, of which nobody is told: what the kernel itself needs."""
    period = int(interval.removesuffix("us")) * 1000 if interval.endswith("us") else int(interval.removesuffix("ms")) * 1_000_000
    # perf_event_attr: type software, size, config cpu-clock, sample_period; the second flag is `inherit`, for new threads.
    attributes = struct.pack("IIQQQQQ", 1, 112, 0, period, 0, 0, 1 << 1).ljust(112, b"\0")
    descriptors = [LIBC.syscall(SYS_PERF_EVENT_OPEN, attributes, int(thread.name), -1, -1, 0)
                   for thread in pathlib.Path(f"/proc/{process.pid}/task").iterdir()]
    if max(descriptors) < 0:
        sys.exit(f"perf_event_open: {os.strerror(ctypes.get_errno())}")
    pathlib.Path(file).touch()
    yield
    for descriptor in descriptors:
        if descriptor >= 0:
            os.close(descriptor)


@contextlib.contextmanager
def sonde(arguments, process, interval, file):
    recorder = subprocess.Popen([arguments.sonde, "attach", str(process.pid), "--mode", f"cpu:{interval}", "-o", file],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield
    recorder.send_signal(signal.SIGINT)
    recorder.wait()


@contextlib.contextmanager
def async_profiler(options, _, process, interval, file):
    asprof = pathlib.Path(os.environ["ASYNC_PROFILER"]).parents[1] / "bin/asprof"
    subprocess.run([asprof, "start", "-e", "cpu", "-i", interval, *options, str(process.pid)], check=True, capture_output=True)
    yield
    subprocess.run([asprof, "stop", "-o", "collapsed", "-a", "-f", file, str(process.pid)], check=True, capture_output=True)


@contextlib.contextmanager
def flight_recorder(settings, arguments, process, _, file):
    def command(*words):
        subprocess.run([f"{arguments.jdk}/bin/jcmd", str(process.pid), *words], check=True, capture_output=True)

    command("JFR.start", "name=bench", f"filename={file}", *settings)
    yield
    command("JFR.stop", "name=bench")


FLIGHT_RECORDER = {"jfr default": ("settings=default",), "jfr profile": ("settings=profile",),
                   "jfr cpu time 10ms": ("settings=default", "jdk.CPUTimeSample#enabled=true", "jdk.CPUTimeSample#throttle=10ms")}


@functools.cache
def tools():
    """{name: context manager of a recording}; what is missing is said once."""
    if os.environ.get("ASYNC_PROFILER"):
        # As it comes, by its own walk over all frames; and by AsyncGetCallTrace, Java frames only.
        return {"nothing": nothing, "events": events, "sonde": sonde, "async-profiler": functools.partial(async_profiler, ()),
                "async-profiler agct": functools.partial(async_profiler, ("--cstack", "no"))}
    print("async-profiler: not present (set ASYNC_PROFILER to its library)", file=sys.stderr)
    return {"nothing": nothing, "events": events, "sonde": sonde}


def flight_recorders():
    return {name: functools.partial(flight_recorder, settings) for name, settings in FLIGHT_RECORDER.items()}
