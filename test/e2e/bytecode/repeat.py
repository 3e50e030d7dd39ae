#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""repeat.py [SONDE] [--programs A,B] [--seeds N,N]: are samples bit-identical, run after run?

Samples small programs and workloads (SONDE_WORKLOADS, size small) ten times per seed: on each JDK interpreted, compiled by C1, by C2, by
both, and by both while other processes keep the machine busy. Prints the hash of the main thread's samples of application and library contexts.
A JDK may make a workload execute other bytecodes than the next JDK does, so workloads are compared on each JDK, small programs on all of
them together. Exit code 1: the samples of a program differ, or another seed gives the same.
"""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys

import run
from run import ROOT, Bench, Failed, digest, samples

RUNS = {"int": ["-Xint"], "c1": ["-XX:TieredStopAtLevel=1"], "c2": ["-XX:-TieredCompilation"], "both": [], "both, busy": []}
WORKLOADS = ("xalan", "ecj", "compress")
# With several threads what the compiler's main thread does is a matter of chance, and it goes through sets by identity hash codes: exact
# recordings of it differ in SplitPackageBinding.combine. So these are all the same.
OPTIONS = {"ecj": ["-Djdt.compiler.useSingleThread=true", "-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2"]}


@contextlib.contextmanager
def busy_machine(is_busy):
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count() if is_busy else 0)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def workload_command(bench, name, jdk, options):
    """What run.sh would start, so that the recording is of the JVM alone."""
    script = pathlib.Path(os.environ.get("SONDE_WORKLOADS", ROOT.parent / "shared/workloads")) / "run.sh"
    environment = dict(os.environ, JAVA_HOME=str(jdk.home), WL_BUILD=str(bench.work / "workloads"), WL_PRINT="1")
    printed = subprocess.run(["bash", script, name, "small", *OPTIONS.get(name, []), *options], env=environment, capture_output=True, text=True, check=True)
    command = printed.stdout.split()
    return with_fixed_output(command, bench.work / "ecj-output") if name == "ecj" else command


def with_fixed_output(command, folder):
    """The compiler itself instead of its driver, which writes to a folder with a random number: the length of its name is counted, too."""
    driver = command.index("EcjBench")
    _, system, sources = command[driver + 1 :]
    arguments = ["--system", system, "-source", "17", "-target", "17", "-g", "-nowarn", "-proc:none", "-d", str(folder), f"@{sources}"]
    return [*command[:driver], "org.eclipse.jdt.internal.compiler.batch.Main", *arguments]


def sample(bench, name, seed):
    """{(JDK, configuration): (hash, samples)}"""
    found = {}
    for jdk in bench.jdks:
        for config, options in RUNS.items():
            if name in WORKLOADS:
                command, granularity = workload_command(bench, name, jdk, options), 10000
            else:
                command, granularity = bench.programs[name].command(jdk, options), 100
            with busy_machine(config == "both, busy"):
                profile, (code, _) = bench.record(command, f"bytecode:granularity={granularity},jitter=100,seed={seed}", "--no-jdk")
            if code != 0:
                raise Failed(f"{name} on JDK {jdk.major}, {config}: exit code {code}")
            main = samples(profile)
            found[jdk.major, config] = digest(main), sum(main.values())
    return found


def verdict(name, found, others):
    groups = {}
    for (major, _), result in found.items():
        groups.setdefault(f"JDK {major}" if name in WORKLOADS else "all JDKs", []).append(result)
    for group, results in groups.items():
        if len(set(results)) != 1:
            raise Failed(f"{name}, {group}: {found}")
        if results[0] in others:
            raise Failed(f"{name}, {group}: another seed gives the same samples")
        yield f"{group}: {len(results)} runs {results[0][0]}, {results[0][1]:,} samples"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sonde", nargs="?", type=pathlib.Path, default=ROOT / "build/dev/sonde")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/bytecode-repeat")
    parser.add_argument("--app-classes", type=pathlib.Path, default=ROOT / "build/apps")
    parser.add_argument("--programs", default=",".join((*run.REPEATABLE, *WORKLOADS)))
    parser.add_argument("--seeds", default="1,2")
    arguments = parser.parse_args()
    arguments.sonde, arguments.work, arguments.quick = arguments.sonde.resolve(), arguments.work.resolve(), False
    arguments.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments)
    failed = 0
    for name in arguments.programs.split(","):
        others = set()
        for seed in arguments.seeds.split(","):
            try:
                found = sample(bench, name, seed)
                print(f"{name}, seed {seed}: " + "; ".join(verdict(name, found, others)), flush=True)
                others.update(found.values())
            except Failed as error:
                failed += 1
                print(f"FAILED: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
