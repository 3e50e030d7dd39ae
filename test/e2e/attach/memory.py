# SPDX-License-Identifier: Apache-2.0
"""What a hundred recordings leave behind in a JVM."""

import re
import time

from case import dump
from recordings import Failed


def pools_of(case, program, name):
    return {line[1]: int(line[2]) for line in dump(case, program, name, "pools:") if line[0] == "pool"}


def classes_of(program):
    hierarchy = program.jcmd("VM.class_hierarchy")
    return {line.strip("|- \t").split("/")[0] for line in hierarchy.splitlines() if line.strip("|- \t")}


def metaspace_kb(program):
    """What is in use, less what old versions of classes have given back for the next ones. The JVM throws old versions
    away some time after a collection."""
    readings = []
    for _ in range(6):
        program.jcmd("GC.run")
        line = next(line for line in program.jcmd("VM.metaspace").splitlines() if line.strip().startswith("Both:"))
        used, given_back = (
            float(size) * {"bytes": 1 / 1024, "KB": 1, "MB": 1024}[unit]
            for size, unit in re.findall(r"([\d.]+) (bytes|KB|MB)(?: *\([^)]*\) used|$)", line)
        )
        readings.append(used - given_back)
    return min(readings)


def settled_rss_kb(program):
    """What is left when compilers and collectors have given back what they worked in."""
    readings = []
    for _ in range(10):
        readings.append(program.status("VmRSS"))
        time.sleep(0.2)
    return min(readings)


OWN_CLASSES = ("RT", "RT$Memory", "Tree", "Flat", "Sampling", "Steps", "Thread", "Subgraph", "SubgraphTree", "RootTimes", "Subgraph$Seen")


def cycles(case):
    """Recordings start and stop again and again: memory and metaspace stay, and no classes but ours come."""
    start_and_stop(case)


def cycles_without_wrappers(case):
    """The same in a JVM that does not compile calls of native methods. JDK 20 and later never free such code, and with it all versions
    of java.lang.System and java.lang.Throwable (docs/design/0008), 50 KB for each recording that counts."""
    start_and_stop(case, "-XX:+PreferInterpreterNativeStubs")


def start_and_stop(case, *jvm):
    """Half of these recordings count."""
    # JDK 17 frees old versions of classes when its sweeper has thrown their code away, about every thirty recordings: in
    # between metaspace doubles. So it is the lows that tell.
    settled = 40
    levels = []
    modes = ("cpu:1ms", "exact", "subgraph:root=Steady.work,bare=20ms", "wall:5ms", "exact:flat", "bytecode,cpu:1ms,wall")
    count = case.arguments.cycles
    with case.steady("-XX:+EnableDynamicAgentLoading", *jvm) as program:

        def cycle(i):
            program.send("spin 120")
            with case.attach(program, modes[i % len(modes)], None, "--duration", "50ms") as attached:
                attached.wait()
            spun = program.expect_line()
            if not spun.endswith(" 0"):
                raise Failed(f"a result is wrong in round {i}, {modes[i % len(modes)]}: {spun}")
            program.jcmd("GC.run")  # old versions of classes go when garbage is collected
            if i % 5 == 4:
                levels.append(metaspace_kb(program))

        def lowest_metaspace_kb():
            return min(levels[-settled // 5 :] + [metaspace_kb(program)])

        quick = case.arguments.quick
        for i in range(6 if quick else 60):
            cycle(i)
        pools_before = pools_of(case, program, "before")
        before = settled_rss_kb(program), lowest_metaspace_kb(), classes_of(program)
        for i in range(count // 2):
            cycle(i)
        pools_halfway = pools_of(case, program, "halfway")
        for i in range(count // 2, count):
            cycle(i)
        after = settled_rss_kb(program), lowest_metaspace_kb(), classes_of(program)
        case.note = (
            f"{count} recordings: RSS {before[0] // 1024} -> {after[0] // 1024} MB, "
            f"metaspace {before[1] / 1024:.1f} -> {after[1] / 1024:.1f} MB"
        )
        pools_after = pools_of(case, program, "after")
        # A NaN is not found again when the JVM merges pools: one Float and one Double, a change there and one back. A
        # class that came late grows once, when it is changed for the first time.
        most = count // 2 * 2 * 3
        grown = [(name, pools_after[name] - size) for name, size in pools_before.items()
                 if name in pools_after and pools_halfway[name] > size + most and pools_after[name] > pools_halfway[name] + most]  # fmt: skip
        case.check(f"constant pools grow: {grown[:5]}", not grown)
        # After six recordings a JVM has not come to rest: then it is the pools that tell.
        case.check(f"memory grows: {case.note}", after[0] - before[0] < (40 if quick else 20) * 1024)
        kept_by_wrappers = count // 2 * 60 if case.jdk.major >= 20 and not jvm else 0
        case.check(f"metaspace grows: {case.note}", after[1] - before[1] < (12 if quick else 4) * 1024 + kept_by_wrappers)
        ours = {name for name in after[2] if "sonde" in name.lower()}
        case.expect("our classes", ours, {f"java.lang.Sonde{name}" for name in OWN_CLASSES})
        new = {name for name in after[2] - before[2] if not name.startswith(("java.", "jdk.", "sun.", "Steady"))}
        case.expect("new classes", new, set())
        case.expect("exit code", program.end(), 0)
