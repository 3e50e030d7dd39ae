# SPDX-License-Identifier: Apache-2.0
"""JVMs that run a workload for long, and recordings of them by Sonde and by async-profiler."""
import contextlib
import functools
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time


def cpu_seconds(pid):
    """CPU time that a process has used, by its clock."""
    return time.clock_gettime(~pid << 3 | 2)


def wait_for_cpu(process, seconds):
    while cpu_seconds(process.pid) < seconds:
        if process.poll() is not None:
            sys.exit(f"{process.args[-3:]}: ended before it had used {seconds:.0f} s of CPU time")
        time.sleep(0.1)


@contextlib.contextmanager
def running_jvm(arguments, workload, folder, output=subprocess.DEVNULL):
    """A JVM that runs the workload for long; wait_for_cpu until it is warm."""
    environment = dict(os.environ, JAVA_HOME=arguments.jdk, ITERS="1000000", WL_BUILD=str(arguments.work / "build"))
    command = ["bash", str(arguments.workloads_folder / "run.sh"), workload, arguments.size, "-XX:+EnableDynamicAgentLoading",
               "-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints", f"-Djava.io.tmpdir={folder}", *arguments.jvm.split()]
    printed = subprocess.run(command, env=dict(environment, WL_PRINT="1"), capture_output=True, text=True, check=True).stdout
    process = subprocess.Popen(shlex.split(printed), env=environment, stdout=output, stderr=subprocess.DEVNULL, text=True)
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
        return {"nothing": nothing, "sonde": sonde, "async-profiler": functools.partial(async_profiler, ()),
                "async-profiler agct": functools.partial(async_profiler, ("--cstack", "no"))}
    print("async-profiler: not present (set ASYNC_PROFILER to its library)", file=sys.stderr)
    return {"nothing": nothing, "sonde": sonde}


def flight_recorders():
    return {name: functools.partial(flight_recorder, settings) for name, settings in FLIGHT_RECORDER.items()}
