#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""same_profile.py WORKLOAD…: runs workloads several times; are the contexts of all classes but the JDK's bit-identical?

Only the thread main is looked at. JDK frames between others are left out of a path, as the JDK may do in different ways
what it is asked for. Large: an export of xalan has gigabytes, so lines are not parsed as JSON unless they differ.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import recordings
from recordings import ROOT, Failed

JDK = re.compile(rb'"(?:java|javax|jdk|sun|com/sun)/[^"]*",?')
HIDDEN = re.compile(rb'"[^"]*(?:\.0x|/0x)[^"]*",?')
START = b'{"thread":"main","stack":['


def profile_of(sonde, recording):
    """{path of frames, innermost last: [calls, bytecodes]}"""
    profile = collections.defaultdict(lambda: [0, 0])
    export = subprocess.Popen([sonde, "export", recording, "--to", "jsonl"], stdout=subprocess.PIPE)
    for line in export.stdout:
        if not line.startswith(START):
            continue
        stack, _, values = line[len(START) :].rpartition(b'],"calls":')
        innermost = stack[stack.rfind(b',"') + 1 :] if b',"' in stack else stack
        if JDK.match(innermost) or HIDDEN.match(innermost):
            continue
        path = HIDDEN.sub(b"", JDK.sub(b"", stack))
        calls, _, bytecodes = values.partition(b',"bytecodes":')
        sums = profile[path]
        sums[0] += int(calls)
        sums[1] += int(bytecodes.split(b"}")[0].split(b",")[0])
    if export.wait() != 0:
        raise Failed(f"sonde export {recording}: exit code {export.returncode}")
    return {path: tuple(values) for path, values in profile.items() if values != [0, 0]}


def command_of(workload, size, jdk, script):
    environment = {**os.environ, "WL_PRINT": "1", "JAVA_HOME": str(jdk.home)}
    done = recordings.execute(["bash", "-c", f'eval "set -- $({script} {workload} {size})"; printf "%s\\n" "$@"'], env=environment)
    if done.code != 0 or not done.stdout.startswith("/"):
        raise Failed(done.stderr)
    return done.stdout.splitlines()


def show(first, profile):
    """The paths with different values, the shallowest first: what is below them follows from them."""
    different = [path for path in first.keys() | profile.keys() if first.get(path) != profile.get(path)]
    for path in sorted(different, key=lambda path: (path.count(b'","'), path))[:12]:
        frames = path.decode().split('","')[-3:]
        print(f"    … {' > '.join(frames)}: {first.get(path)} and {profile.get(path)}")
    methods = collections.Counter(path[path.rfind(b',"') + 1 :].decode() for path in different)
    print(f"    {len(different)} contexts differ; methods: {methods.most_common(12)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("workloads", nargs="+")
    parser.add_argument("--sonde", type=pathlib.Path, default=ROOT / "build/dev/sonde")
    parser.add_argument("--script", type=pathlib.Path, default=ROOT.parent / "shared/workloads/run.sh")
    parser.add_argument("--size", default="small")
    parser.add_argument("--jdk")
    parser.add_argument("-k", "--times", type=int, default=5)
    arguments = parser.parse_args()
    if not arguments.script.exists():
        print(f"same_profile: no workloads at {arguments.script}", file=sys.stderr)
        return 77
    same = True
    for jdk in recordings.find_jdks():
        if arguments.jdk and str(jdk.major) not in arguments.jdk.split(","):
            continue
        for workload in arguments.workloads:
            command = command_of(workload, arguments.size, jdk, arguments.script)
            first = None
            with tempfile.TemporaryDirectory(prefix="sonde-same-") as folder:
                for run in range(1, arguments.times + 1):
                    ended, recording = recordings.record(arguments.sonde.resolve(), pathlib.Path(folder) / "x.sonde", command)
                    profile = profile_of(arguments.sonde.resolve(), recording.path)
                    calls = sum(calls for calls, _ in profile.values())
                    bytecodes = sum(bytecodes for _, bytecodes in profile.values())
                    print(f"{workload} jdk {jdk.major} run {run}: exit code {ended.code}, {len(profile):,} contexts, {calls:,} calls, "
                          f"{bytecodes:,} bytecodes, {'as the first' if profile == (first or profile) else 'DIFFERENT'}", flush=True)  # fmt: skip
                    first = first or profile
                    if profile != first:
                        same = False
                        show(first, profile)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
