#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [SONDE]: deterministic sampling of programs whose profile is known from exact counting or by construction.

  --case A,B    only these      --quick    fewer programs and configurations, as with the other tests
Exit code 1: a case failed. 77: something needed is not built.
"""

import argparse
import collections
import hashlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "test/apps"), str(ROOT / "test/e2e/stress")]

import build  # noqa: E402  test/apps
import recordings  # noqa: E402  test/e2e/stress

CONFIGURATIONS = {"int": ["-Xint"], "c1": ["-XX:TieredStopAtLevel=1"], "default": [], "c2": ["-XX:-TieredCompilation"]}
COLLECTORS = ("Z", "Parallel", "Shenandoah", "G1", "Serial")
# Their profile ends with frames on the stack, or with threads that nobody waits for.
UNFINISHED = {"ExitDeep", "Daemons"}
QUICK = ("CatchFarUp", "CatchInLoop", "ClinitAfterNative", "ClinitThrow", "ConstructorThrow", "FinallyNested", "HotMix", "Lambdas", "NativeCalls",
         "OldFinally", "PatternSwitch", "Recursion", "ReflectThrow", "Shares", "Threads", "ThrowIndex", "ThrowNull", "TryResources")  # fmt: skip
REPEATABLE = ("HotMix", "CatchInLoop", "Callbacks", "Shares", "Recursion")


class Failed(Exception):
    pass


class Bench:
    """What all cases share: programs, JDKs, and how to record."""

    def __init__(self, arguments):
        self.sonde, self.work, self.quick = arguments.sonde, arguments.work, arguments.quick
        self.jdks = build.find_jdks()
        self.programs = {app.name: app for app in build.build(arguments.app_classes, self.jdks)}
        self.stress = self.work / "stress"
        recordings.compile_programs(self.stress, self.jdks)

    def run(self, command, mode, *options):
        out = self.work / "x.sonde"
        recordings.remove(out)
        return recordings.execute([self.sonde, "run", "--mode", mode, *options, "-o", out, "--", *command]), out

    def deepest(self, recording):
        """How many frames the longest stack with samples has; there may be a gigabyte of them."""
        command = [self.sonde, "export", recording, "--to", "collapsed", "--metric", "samples"]
        with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE) as lines:
            return max((line.count(b";") for line in lines.stdout), default=0)

    def record(self, command, mode, *options):
        """[{"thread", "stack", "samples" or "calls", "bytecodes"}] of one run, and what it printed."""
        ended, out = self.run(command, mode, *options)
        lines = recordings.execute([self.sonde, "export", out, "--to", "jsonl"])
        if lines.code != 0:
            raise Failed(f"export: {lines.stderr}{ended.stderr}")
        return [json.loads(line) for line in lines.stdout.splitlines()], (ended.code, ended.stdout)

    def apps(self):
        names = QUICK if self.quick else sorted(self.programs)
        return [self.programs[name] for name in names if name not in UNFINISHED]


def total(profile, metric):
    return sum(context[metric] for context in profile)


def samples(profile, threads=("main",)):
    """{stack: samples} of the threads; None: of all together."""
    found = collections.Counter()
    for context in profile:
        if context["samples"] and (threads is None or context["thread"] in threads):
            found[tuple(context["stack"])] += context["samples"]
    return found


def digest(found):
    return hashlib.sha256(json.dumps(sorted(found.items())).encode()).hexdigest()[:16]


def expect(what, actual, expected):
    if actual != expected:
        raise Failed(f"{what}: {actual!r} instead of {expected!r}")


def totals(bench):
    """No bytecode is lost, whatever is thrown, and samples are of contexts that exist."""
    for app in bench.apps():
        for jdk in [jdk for jdk in bench.jdks if jdk.major >= app.min_jdk][: 1 if bench.quick else None]:
            exact, outcome = bench.record(app.command(jdk), "exact", "--no-jdk")
            sampled, same = bench.record(app.command(jdk), "bytecode:granularity=50,jitter=10", "--no-jdk")
            name = f"{app.name} on JDK {jdk.major}"
            expect(f"{name}: outcome", same, outcome)
            expect(f"{name}: executed bytecodes", total(sampled, "bytecodes"), total(exact, "bytecodes"))
            contexts = {(context["thread"], *context["stack"]) for context in exact}
            strange = [c for c in sampled if c["samples"] and (c["thread"], *c["stack"]) not in contexts]
            expect(f"{name}: contexts that exact counting does not know", strange, [])
            if not total(sampled, "samples"):
                raise Failed(f"{name}: no samples, so nothing is shown")


def shares(bench):
    """Shares by construction: one, two and five parts, to 1 % of the whole."""
    for mode in ("granularity=100,jitter=20", "granularity=97,jitter=0", "granularity=1000,jitter=100"):
        profile, _ = bench.record(bench.programs["Shares"].command(bench.jdks[0]), f"bytecode:{mode}", "--no-jdk")
        found = collections.Counter()
        for context in profile:
            found[context["stack"][-1].partition("(")[0]] += context["samples"]
        burnt = found["app/Shares.burn1"] + found["app/Shares.burn2"] + found["app/Shares.burn5"]
        for name, part in (("burn1", 1), ("burn2", 2), ("burn5", 5)):
            share = found[f"app/Shares.{name}"] / burnt
            if abs(share - part / 8) > 0.01:
                raise Failed(f"{mode}: {name} has {share:.3f} of the samples, executes {part / 8:.3f}")


def repeatable(bench):
    """The same samples interpreted, compiled by C1 and C2, on every JDK; with another seed others, as repeatable."""
    for name in REPEATABLE[:2] if bench.quick else REPEATABLE:
        digests = {}
        for seed in (1, 2):
            for jdk in bench.jdks:
                for config, options in CONFIGURATIONS.items():
                    command = bench.programs[name].command(jdk, options)
                    profile, _ = bench.record(command, f"bytecode:granularity=100,jitter=50,seed={seed}", "--no-jdk")
                    digests.setdefault(seed, {})[f"{jdk.major} {config}"] = digest(samples(profile))
            if len(set(digests[seed].values())) != 1:
                raise Failed(f"{name}, seed {seed}: {digests[seed]}")
        if set(digests[1].values()) == set(digests[2].values()):
            raise Failed(f"{name}: seed 2 gives the same samples as seed 1")
        print(f"    {name}: seed 1 {next(iter(digests[1].values()))}, seed 2 {next(iter(digests[2].values()))}")


def contexts(bench):
    """The JVM's stacks, hashes of call sites and traps give the samples that the shadow stack gives, interpreted and compiled."""
    for app in bench.apps():
        jdk = [jdk for jdk in bench.jdks if jdk.major >= app.min_jdk][0 if bench.quick else -1]
        shadow, _ = bench.record(app.command(jdk), "bytecode:granularity=50,jitter=10,context=shadow", "--no-jdk")
        for config, context in itertools.product(("default",) if bench.quick else ("default", "int"), ("jvm", "hash", "jvm-trap", "hash-trap")):
            command = app.command(jdk, CONFIGURATIONS[config])
            other, _ = bench.record(command, f"bytecode:granularity=50,jitter=10,context={context}", "--no-jdk")
            found, expected = samples(other), samples(shadow)
            different = [stack for stack in {*found, *expected} if found[stack] != expected[stack]]
            expect(f"{app.name} on JDK {jdk.major} {config}, {context}: contexts with other samples", different, [])
            expect(f"{app.name}, {context}: executed bytecodes", total(other, "bytecodes"), total(shadow, "bytecodes"))


def every_bytecode(bench):
    """If each bytecode is a sample, each context has as many as exact counting counts there; also where caches have no room for all."""
    file = bench.work / "ten.weights"
    file.write_text("sonde-weights 1\nname ten each\nscale 1\ndefault 10\n")
    for name in ("ManyContexts", "HotMix", "Recursion", "Shares"):
        for jdk in bench.jdks[:1] if bench.quick else bench.jdks:
            exact, _ = bench.record(bench.programs[name].command(jdk), "exact", "--no-jdk")
            expected = collections.Counter()
            for context in exact:
                if context["thread"] == "main" and context["bytecodes"]:
                    expected[tuple(context["stack"])] += context["bytecodes"]
            for config, context in itertools.product(("default", "c1") if bench.quick else CONFIGURATIONS, ("shadow", "hash", "jvm-trap", "hash-trap")):
                command = bench.programs[name].command(jdk, CONFIGURATIONS[config])
                sampled, _ = bench.record(command, f"bytecode:granularity=10,jitter=0,context={context}", "--no-jdk", "--weights", file)
                found = samples(sampled)
                different = [(stack, found[stack], expected[stack]) for stack in {*found, *expected} if found[stack] != expected[stack]]
                expect(f"{name} on JDK {jdk.major} {config}, {context}: contexts with other samples", different[:5], [])


def too_many_contexts(bench):
    """Where hardly any context is in its table, sampling goes on with calls while the program runs, and no sample is another one."""
    jdk = bench.jdks[-1]
    command = [*bench.programs["ManyContexts"].command(jdk), 17, 40]
    shadow = bench.work / "shadow.sonde"
    recordings.remove(shadow)
    _, out = bench.run(command, "bytecode:granularity=20,jitter=10,context=shadow", "--no-jdk")
    out.rename(shadow)
    _, out = bench.run(command, "bytecode:granularity=20,jitter=10", "--no-jdk")
    expect("times it went on with calls", recordings.Recording(bench.sonde, out).counters().get("SamplesByCalls"), 1)
    overlap = recordings.execute([bench.sonde, "overlap", shadow, out]).stdout
    expect("overlap with the shadow stack", re.search(r"Overlap +(\S+)", overlap)[1], "100.00")
    counts = re.findall(r"sonde: ([\d,]+) samples in ([\d,]+) contexts", overlap)
    expect("samples and contexts", counts[0], counts[1])


def watched_handlers(bench):
    """A JVM that watches its signal handlers, of which the command line says nothing: samples are calls, and the same ones."""
    jdk = bench.jdks[-1]
    options = bench.work / "watched.options"
    options.write_text("-Xcheck:jni\n")
    program = bench.programs["HotMix"]
    for context in ("jvm-trap", "hash-trap"):
        mode = f"bytecode:granularity=100,jitter=10,context={context}"
        expected, _ = bench.record(program.command(jdk), mode, "--no-jdk")
        ended, _ = bench.run(program.command(jdk, [f"@{options}"]), mode, "--no-jdk")
        if "somebody watches the signal handlers of this JVM" not in ended.stderr:
            raise Failed(f"{context}: {ended.stderr}")
        found, _ = bench.record(program.command(jdk, [f"@{options}"]), mode, "--no-jdk")
        expect(f"{context}: samples", digest(samples(found)), digest(samples(expected)))


def births(bench):
    """A thread's samples depend on its place in the tree of births, not on when it runs."""
    command = bench.programs["Births"].command(bench.jdks[0])
    first, _ = bench.record(command, "bytecode:granularity=200,jitter=150", "--no-jdk")
    again, _ = bench.record(command, "bytecode:granularity=200,jitter=150", "--no-jdk")
    by_thread = {}
    for thread in ("main", "first", "second", "grandchild"):
        by_thread[thread] = digest(samples(first, (thread,)))
        expect(f"samples of {thread} in a second run", digest(samples(again, (thread,))), by_thread[thread])
    if by_thread["second"] == by_thread["grandchild"]:
        raise Failed("two threads that do the same have the same samples: the place of birth does not matter")


def virtual_threads(bench):
    """Many virtual threads, whichever carrier runs them: the samples of all together are the same, none is lost."""
    jdk = bench.jdks[-1]
    if jdk.major < 21:
        return
    threads, calls = (2000, 40) if bench.quick else (20000, 40)
    found = {}
    for parallelism, context in ((1, "shadow"), (4, "shadow"), (2, "jvm"), (3, "hash"), (5, "jvm-trap"), (6, "hash-trap")):
        for how in ("together", "stream"):
            options = ["-Xmx512m", f"-Djdk.virtualThreadScheduler.parallelism={parallelism}", "-cp", bench.stress / "classes21"]
            command = [jdk.java, *options, "app.ManyVirtualThreads", threads, calls, how]
            profile, (code, _) = bench.record(command, f"bytecode:granularity=1000,jitter=100,context={context}", "--no-jdk")
            expect("exit code", code, 0)
            work = {stack: n for stack, n in samples(profile, None).items() if "work" in "".join(stack)}
            found[parallelism, how] = (digest(work), sum(work.values()), total(profile, "bytecodes"))
    for how in ("together", "stream"):
        expect(f"{how}: results of several runs", len({found[p, how] for p in (1, 4, 2, 3, 5, 6)}), 1)
    _, count, bytecodes = found[1, "stream"]
    # Most of what runs is work(); each thread does less than a sample's worth and is still sampled in proportion.
    if abs(count * 1050 / bytecodes - 1) > 0.1:
        raise Failed(f"{count} samples of {bytecodes} bytecodes")
    print(f"    {threads} threads: {count} samples of {bytecodes} bytecodes")


def unequal_threads(bench):
    """Each virtual thread has the samples that its own bytecodes make, however many others run: exactly, by construction."""
    jdk = bench.jdks[-1]
    if jdk.major < 21:
        return
    threads = 2000 if bench.quick else 20000
    kinds = {"five": 172, "ten": 312, "twenty": 592, "forty": 1152}  # bytecodes of a thread
    for parallelism in (1, 4):
        options = ["-Xmx512m", f"-Djdk.virtualThreadScheduler.parallelism={parallelism}", "-cp", bench.stress / "classes21"]
        command = [jdk.java, *options, "app.UnequalVirtualThreads", threads]
        for granularity in (100, 150):
            profile, (code, _) = bench.record(command, f"bytecode:granularity={granularity},jitter=0", "--no-jdk")
            expect("exit code", code, 0)
            found = collections.Counter()
            for stack, count in samples(profile, None).items():
                found[stack[0].partition("(")[0].rpartition(".")[2]] += count
            for kind, bytecodes in kinds.items():
                name = f"samples of {threads // 4} threads of {bytecodes} bytecodes, one every {granularity}"
                expect(name, found[kind], threads // 4 * (bytecodes // granularity))


def collectors_of(jdk):
    """Options of those that this JVM was built with."""
    every = [f"-XX:+Use{name}GC" for name in COLLECTORS]
    return [[option] for option in every if recordings.execute([jdk.java, option, "-version"]).code == 0]


def collectors(bench):
    """Whichever collector the JVM has, the samples are the same: each has barriers of its own in the code that traps are in."""
    for jdk in bench.jdks:
        known = collectors_of(jdk)[: 2 if bench.quick else None]
        for name in ("HotMix", "ManyContexts"):
            for context in ("jvm-trap", "hash-trap"):
                mode, found = f"bytecode:granularity=50,jitter=10,context={context}", {}
                for options in known:
                    profile, (code, _) = bench.record(bench.programs[name].command(jdk, ["-Xmx256m", *options]), mode, "--no-jdk")
                    expect(f"{name} on JDK {jdk.major}, {options}: exit code", code, 0)
                    found[options[0]] = digest(samples(profile))
                expect(f"{name} on JDK {jdk.major}, {context}: different samples of {found}", len(set(found.values())), 1)


def churn(bench):
    """Classes and threads that come and go, exceptions, deep stacks, code that is thrown away. Builds with assertions compare each stack
    with what the JVM says of it."""
    classes = bench.work / "sampler"
    recordings.compile_programs(classes, bench.jdks, ROOT / "test/apps/sampler", "classes")
    seconds = 2 if bench.quick else 5
    for jdk in bench.jdks:
        for options in (["-XX:+UseSerialGC", "-XX:ReservedCodeCacheSize=8m"], *collectors_of(jdk)[:3])[: 1 if bench.quick else None]:
            command = [jdk.java, "-Xmx256m", "-Xss400k", *options, "-cp", classes / "classes", "app.Churn", seconds]
            for source in ("jvm", "hash", "jvm-trap", "hash-trap"):
                ended, out = bench.run(command, f"bytecode:granularity=1000,context={source}", "--no-jdk")
                expect(f"exit code on JDK {jdk.major} {options}, {source}", (ended.code, "done" in ended.stdout), (0, True))
                deepest = bench.deepest(out)
                if deepest < 500:
                    raise Failed(f"{source}: the deepest context has {deepest} frames")


def killed(bench):
    """kill -9: samples taken until then are there."""
    out = bench.work / "killed.sonde"
    recordings.remove(out)
    classes = bench.stress / "classes"
    command = [bench.sonde, "run", "--mode", "bytecode:granularity=1000", "-o", out, "--", bench.jdks[0].java, "-cp", classes, "app.Behave", "busy", "30"]
    with subprocess.Popen([str(w) for w in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True) as process:
        for _ in range(3):
            process.stdout.readline()
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGKILL)
    found = recordings.execute([bench.sonde, "report", f"{out}.live", "--json"])
    report = json.loads(found.stdout)
    if report["sum"]["samples"] < 1000:
        raise Failed(f"{report['sum']} in what was left")
    expect("damage", report["damage"]["count"], 0)


def max_path(bench):
    """Contexts are cut at so many frames, the sampled method included; nothing else changes."""
    command = bench.programs["Recursion"].command(bench.jdks[0])
    whole, _ = bench.record(command, "bytecode:granularity=10,jitter=3", "--no-jdk")
    cut, _ = bench.record(command, "bytecode:granularity=10,jitter=3,maxpath=4", "--no-jdk")
    expect("frames", max(len(stack) for stack in samples(cut)), 4)
    expect("samples", total(cut, "samples"), total(whole, "samples"))
    expected = collections.Counter()
    for stack, count in samples(whole).items():
        expected[stack if len(stack) <= 4 else (*stack[:3], stack[-1])] += count
    expect("cut contexts", samples(cut), expected)


def weights(bench):
    """Samples by weight: shares as constructed, repeatable, and the recording says by which."""
    file = bench.work / "x.weights"
    # Shares.burn2 executes the bytecodes of burn1 twice; without weights that is what it gets.
    file.write_text("sonde-weights 1\nname by hand\nscale 10\ndefault 10\nint_math 70\n")
    digests = set()
    for jdk in bench.jdks:
        for config in ("int", "default"):
            command = bench.programs["Shares"].command(jdk, CONFIGURATIONS[config])
            profile, _ = bench.record(command, "bytecode:granularity=100,jitter=20", "--no-jdk", "--weights", file)
            digests.add((digest(samples(profile)), total(profile, "bytecodes")))
    expect("different samples", len(digests), 1)
    plain, _ = bench.record(bench.programs["Shares"].command(bench.jdks[0]), "bytecode:granularity=100,jitter=20", "--no-jdk")
    # The loop: iload iload if_icmpge, iload bipush imul iload iadd istore, iinc goto: 11 bytecodes, 3 of them arithmetic.
    ratio = digests.pop()[1] / total(plain, "bytecodes")
    if abs(ratio - (8 + 3 * 7) / 11) > 0.05:
        raise Failed(f"weighed bytecodes are {ratio:.3f} times the others")
    header = recordings.execute([bench.sonde, "report", bench.work / "x.sonde"]).stdout
    expect("header without weights", "Weights" in header, False)
    bench.record(bench.programs["Shares"].command(bench.jdks[0]), "bytecode", "--weights", file)
    header = recordings.execute([bench.sonde, "report", bench.work / "x.sonde"]).stdout
    expect("header", "Weights   by hand" in header and "weighed bytecodes" in header, True)
    status = json.loads(recordings.execute([bench.sonde, "status", bench.work / "x.sonde", "--json"]).stdout)
    expect("weights in the recording", status["sampling"]["weights"], file.read_text())
    for text, words in (("sonde-weights 1\nloads 3", "line 2"), ("", "begins with")):
        file.write_text(text)
        refused = recordings.execute([bench.sonde, "run", "--mode", "bytecode", "--weights", file, "--", bench.jdks[0].java, "-version"])
        expect(f"exit code, {words}", (refused.code, words in refused.stderr), (2, True))
    refused = recordings.execute([bench.sonde, "run", "--mode", "exact", "--weights", file, "--", bench.jdks[0].java, "-version"])
    expect("weights of exact counting", (refused.code, "--mode bytecode" in refused.stderr), (2, True))


def calibrate(bench):
    """A file that can be used, with its error; interpreted code is explained well even on a busy machine."""
    file = bench.work / "here.weights"
    done = recordings.execute([bench.sonde, "calibrate", "--jdk", bench.jdks[0].home, "-o", file, "--", "-Xint"])
    expect("exit code", done.code, 0)
    explained = float(re.search(r"fitted to: R2 (-?[\d.]+)", done.stderr).group(1))
    if explained < 0.8 or "each kernel predicted from the others" not in file.read_text():
        raise Failed(f"R2 {explained}: {done.stderr}")
    profile, _ = bench.record(bench.programs["Shares"].command(bench.jdks[0]), "bytecode:granularity=1000", "--no-jdk", "--weights", file)
    if not total(profile, "samples"):
        raise Failed("no samples with these weights")
    refused = recordings.execute([bench.sonde, "calibrate", "--jdk", "/nowhere"])
    expect("exit code without a JDK", refused.code, 1)


CASES = {case.__name__: case for case in (totals, shares, repeatable, contexts, every_bytecode, too_many_contexts, watched_handlers, births, virtual_threads, unequal_threads, collectors, churn, killed, max_path, weights, calibrate)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sonde", nargs="?", type=pathlib.Path, default=ROOT / "build/dev/sonde")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/bytecode")
    parser.add_argument("--app-classes", type=pathlib.Path, default=ROOT / "build/apps")
    parser.add_argument("--case")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    arguments.sonde, arguments.work = arguments.sonde.resolve(), arguments.work.resolve()
    if not arguments.sonde.exists() or not build.find_jdks():
        print(f"run: missing: {arguments.sonde} or a JDK; build it first", file=sys.stderr)
        return 77
    arguments.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments)
    failed = 0
    for name in arguments.case.split(",") if arguments.case else CASES:
        start = time.monotonic()
        try:
            CASES[name](bench)
            verdict = "ok"
        except (Failed, recordings.Failed) as error:
            verdict, failed = f"FAILED: {error}", failed + 1
        print(f"{name:16} {time.monotonic() - start:6.1f} s  {verdict}", flush=True)
    shutil.rmtree(arguments.work / "killed.sonde.live", ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
