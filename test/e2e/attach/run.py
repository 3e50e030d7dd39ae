#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [SONDE]: attaches to programs that run. They must go on as if nobody were there, what is recorded must be
right, and when the recording ends nothing of it may stay.

Exit code 1: a case failed. 77: something needed is not built.

  --cases A,B   --jdk 17,25     only these
  --cycles N    how often recordings start and stop (default 200, with --quick 12)
  --quick       what CI runs
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "stress"))

import recordings  # noqa: E402
from access import dormant, hostile_clients, namespaces, refusals  # noqa: E402
from case import Case, Skipped  # noqa: E402
from counting import bytecode, contexts, counts, refused_class, removal  # noqa: E402
from ends import host_killed, jvm_ends, jvm_killed  # noqa: E402
from live import beside, first_numbers, launched, switching, top  # noqa: E402
from memory import cycles, cycles_without_wrappers  # noqa: E402
from recordings import ROOT, Failed, execute  # noqa: E402
from subgraphs import handles, subgraph  # noqa: E402
from workloads import throughput, workloads  # noqa: E402

CASES = {
    "first-numbers": first_numbers,
    "counts": counts,
    "bytecode": bytecode,
    "contexts": contexts,
    "removal": removal,
    "refused-class": refused_class,
    "subgraph": subgraph,
    "handles": handles,
    "cycles": cycles,
    "cycles-no-wrappers": cycles_without_wrappers,
    "switching": switching,
    "host-killed": host_killed,
    "jvm-killed": jvm_killed,
    "jvm-ends": jvm_ends,
    "refusals": refusals,
    "hostile-clients": hostile_clients,
    "dormant": dormant,
    "namespaces": namespaces,
    "top": top,
    "launched": launched,
    "beside": beside,
    "workloads": workloads,
    "throughput": throughput,
}
NOT_QUICK = ("cycles-no-wrappers", "workloads", "throughput")


def run_case(arguments, jdk, name):
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"sonde-attach-{name}-", dir=arguments.work) as folder:
        case = Case(arguments, jdk, pathlib.Path(folder))
        verdict = "ok"
        try:
            CASES[name](case)
        except Skipped as reason:
            verdict, case.note = "skipped", str(reason)
        except (Failed, OSError, subprocess.TimeoutExpired, StopIteration) as error:
            case.problems += [type(error).__name__, *str(error).splitlines()]
    if case.problems:
        verdict = "FAILED"
    print(f"{name:16} jdk {jdk.major:<3} {verdict:7} {time.monotonic() - start:6.1f} s  {case.note}", flush=True)
    for problem in case.problems[:25]:
        print(f"    {problem}", flush=True)
    return not case.problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sonde", nargs="?", type=pathlib.Path, default=ROOT / "build/dev/sonde")
    parser.add_argument("--dump", type=pathlib.Path, default=ROOT / "build/dev/libbytecode_dump.so")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/attach")
    parser.add_argument("--cases")
    parser.add_argument("--jdk")
    parser.add_argument("--cycles", type=int)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    arguments.sonde, arguments.work = arguments.sonde.resolve(), arguments.work.resolve()
    jdks = recordings.find_jdks()
    if not arguments.sonde.exists() or not arguments.dump.exists() or not jdks:
        print(f"run: {arguments.sonde}, {arguments.dump} or a JDK (tools/find_jdks) is missing", file=sys.stderr)
        return 77
    arguments.cycles = arguments.cycles or (12 if arguments.quick else 200)
    arguments.work.mkdir(parents=True, exist_ok=True)
    arguments.dump = arguments.dump.resolve()
    done = execute([jdks[0].home / "bin/javac", "-d", arguments.work / "classes", "--release", "17", *sorted(HERE.glob("*.java"))])
    if done.code != 0:
        raise Failed(done.stderr)
    default = [name for name in CASES if not arguments.quick or name not in NOT_QUICK]
    names = arguments.cases.split(",") if arguments.cases else default
    if unknown := [name for name in names if name not in CASES]:
        parser.error(f"no such case: {', '.join(unknown)}; there are {', '.join(CASES)}")
    if arguments.jdk:
        jdks = [jdk for jdk in jdks if str(jdk.major) in arguments.jdk.split(",")]
    results = [run_case(arguments, jdk, name) for jdk in jdks for name in names]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
