#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""results.py FILE...: the table (Markdown) of what bench/exact/run measured, from its JSON lines."""
import json
import statistics
import sys

STEADY = 5  # iterations at the end of a run


def read(files):
    rows = []
    for name in files:
        with open(name, encoding="utf-8") as file:
            rows += [json.loads(line) for line in file]
    return rows


def steady(row):
    return row["iterations"][-STEADY:]


def steady_ms(runs):
    """The median over the steady iterations of several runs of one variant."""
    return statistics.median(ms for run in runs for ms in steady(run))


def cells(rows):
    """{workload: {variant: (ratio to base, base or own milliseconds, number of runs)}}"""
    runs = {}
    for row in rows:
        runs.setdefault(row["workload"], {}).setdefault(row["variant"], []).append(row)
    table = {}
    for workload, by_variant in runs.items():
        if "base" not in by_variant:
            continue
        base = steady_ms(by_variant["base"])
        table[workload] = {name: (steady_ms(of) / base, steady_ms(of), len(of)) for name, of in by_variant.items()}
    return table


def table(rows):
    measured = cells(rows)
    variants = list(dict.fromkeys(row["variant"] for row in rows if row["variant"] != "base"))
    lines = ["| workload | base ms | " + " | ".join(variants) + " | runs |", "|---" * (len(variants) + 3) + "|"]
    for workload, by_variant in measured.items():
        clock = next(row["clock"] for row in rows if row["workload"] == workload)
        name = workload + ("" if clock == "main thread" else f" ({clock})")
        ratios = [f"{by_variant[v][0]:.2f}" if v in by_variant else "" for v in variants]
        runs = [count for _, _, count in by_variant.values()]
        counted = str(min(runs)) if min(runs) == max(runs) else f"{min(runs)} to {max(runs)}"
        lines.append(f"| {name} | {by_variant['base'][1]:.0f} | " + " | ".join(ratios) + f" | {counted} |")
    for title, summary in (("**geometric mean**", statistics.geometric_mean), ("worst", max)):
        of_variant = [[by[v][0] for by in measured.values() if v in by] for v in variants]
        lines.append(f"| {title} | | " + " | ".join(f"{summary(r):.2f}" if r else "" for r in of_variant) + " | |")
    loads = [row["load"] for row in rows]
    lines.append(f"\nLoad of the machine while it ran: {min(loads)} to {max(loads)}, median {statistics.median(loads):.1f}.")
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(table(read(sys.argv[1:])))
