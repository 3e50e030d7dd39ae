# SPDX-License-Identifier: Apache-2.0
"""Call subgraphs and regions of a program that runs."""

import time

from case import RUNS, bytecodes_of

SUBGRAPH = {"Steady.work": (1, 0), "Steady.recurse": (465, 0), "Steady.half": (4, 2), "Steady$Pair.area": (5, 0),
            "Steady$Square.area": (6, 0), "Steady$Pair.<init>": (5, 0), "Steady$Square.<init>": (6, 0)}  # fmt: skip


def expect_subgraph(case, what, recording, runs, expected=None):
    """Calls and exits by exceptions, of these methods and no others."""
    rows = recording.report()["rows"]
    found = {f"{row['class']}.{row['method']}": (row["self"]["calls"], row["self"].get("exceptions", 0)) for row in rows}
    found = {name: counts for name, counts in found.items() if ".lambda$" not in name}
    expected = {name: (calls * runs, thrown * runs) for name, (calls, thrown) in (expected or SUBGRAPH).items()}
    case.expect(what, found, expected)
    state = recording.status()
    case.expect(f"{what}: damage", state["damage"]["count"], 0)
    case.expect(f"{what}: counters", state["counters"], [])


def subgraph(case):
    """Call subgraphs of a JVM that runs: complete from the first call on, one after the other, on and off again, with a
    frame that runs from one into the next; then bytecode and speed are what they were."""
    with case.steady("-XX:+EnableDynamicAgentLoading") as program:
        program.spin(1500)
        before_speed = program.spin(1000)
        before = bytecodes_of(case, program, "before")
        for i in range(3):
            with case.attach(program, "subgraph:root=Steady.work,bare=off") as attached:
                program.tell(f"run {RUNS}")
                expect_subgraph(case, f"recording {i}", attached.end(), RUNS)
        with case.attach(program, "region:Steady.recurse,cpu:1ms") as attached:
            program.tell(f"run {RUNS}")
            facts = attached.end().status()["subgraph"]["roots"][0]
            case.expect("region", (facts["calls"], facts["timed"]), (RUNS, RUNS))
        during = {}

        def meanwhile():
            case.expect_no_exact(program, "mode subgraph")
            during.update(bytecodes_of(case, program, "during"))

        twice = case.record_twice(program, "subgraph:root=Steady.half,time=off", RUNS, meanwhile=meanwhile)
        expect_subgraph(case, "twice", twice, 2 * RUNS, {"Steady.half": (4, 2)})
        program.tell("hold")
        for root in ("Steady.hold", "Steady.work", "Steady.hold"):
            with case.attach(program, f"subgraph:root={root},bare=off") as attached:
                time.sleep(0.3)
                recording = attached.end()
            state = recording.status()
            case.expect(f"{root} while it runs: damage", state["damage"]["count"], 0)
            calls = {row["method"]: row["self"]["calls"] for row in recording.report()["rows"]}
            case.check(f"{root} while it runs: {calls}", (calls.get("work", 0) > 10) == (root == "Steady.work"))
        program.tell("release")
        after = bytecodes_of(case, program, "after")
        changed = sorted(name for name, code in before.items() if during.get(name, code) != code)
        case.check(f"changed while it was measured: {changed}", [name for name in changed if name.startswith("LSteady;.half(")])
        other = [name for name, code in before.items() if after.get(name, code) != code]
        case.check(f"{len(other)} methods are not what they were: {other[:3]}", not other)
        speed = program.speed_again(before_speed)
        case.note = f"calls per ms: {before_speed:.0f} before, {speed:.0f} after"
        case.check(f"slower afterwards: {case.note}", speed > 0.6 * before_speed)
        case.expect("exit code", program.end(), 0)


def handles(case):
    """Code of C1 without counters, into which the JVM has inlined a method through a handle, does not tell that it has, and
    would run on as it is when the method is changed, here for ever: calls would be missing. Three ways to call one."""
    with case.steady("-XX:TieredStopAtLevel=1", "-XX:+EnableDynamicAgentLoading") as program:
        for mode in 2 * ("region:Steady.byHandle", "subgraph:root=Steady.handles,bare=off", "exact", "exact:flat", "subgraph:root=Steady.byHandle"):
            program.tell("handles 30000")
            with case.attach(program, mode) as attached:
                program.tell(f"handles {RUNS}")
                recording = attached.end()
            if mode == "subgraph:root=Steady.byHandle":
                calls = sum(root["calls"] + root["all_bare"] for root in recording.status()["subgraph"]["roots"])
            else:
                calls = sum(row["self"]["calls"] for row in recording.report()["rows"] if row["method"] == "byHandle")
            case.expect(f"{mode}: calls", calls, 3 * RUNS)
        case.expect("exit code", program.end(), 0)
