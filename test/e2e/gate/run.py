#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py SONDE: the example of docs/user/ci.md, taken from that page and run as it stands there.

Unchanged runs on a loaded machine pass, and their numbers are the same to the last digit; a regression of 2 % in one
method is caught with its call path; an improvement passes. Exit code 1: something is not so. 77: no JDK, or no agent.

  --runs N      unchanged runs (10)
  --quick       oldest JDK only
  --work DIR    where to do it
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/user/ci.md"
BURN = "while True: pass"


class Failed(Exception):
    pass


def expect(holds, what, output=""):
    if not holds:
        raise Failed(f"{what}\n{output}")


def project_of(page):
    """Path to text, of every code block below a line that is a path in backquotes."""
    return dict(re.findall(r"^`([\w./]+)`\n```\w+\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))


def steps_of(workflow):
    """The commands of a job, each with whether it runs after a failure too."""
    steps = re.split(r"^      - ", workflow, flags=re.MULTILINE)[1:]
    commands = ((re.match(r"run: (.*)", step), "if: always()" in step) for step in steps)
    return [(match[1], always) for match, always in commands if match]


class Project:
    def __init__(self, folder, sonde, jdk):
        self.folder = folder
        path = f"{jdk}/bin:{sonde.parent}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "JAVA_HOME": jdk, "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
        shutil.rmtree(folder, ignore_errors=True)
        self.files = project_of(PAGE.read_text())
        expect({"src/shop/Shop.java", "perf/gate.sh", "perf/sonde.toml"} <= self.files.keys(), "files are missing in ci.md")
        for name, text in self.files.items():
            self.write(name, text)

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if name.endswith(".sh"):
            file.chmod(0o755)

    def edit(self, name, old, new):
        expect(old in self.files[name], f"{name} has no `{old}`")
        self.write(name, self.files[name].replace(old, new))

    def restore(self, name):
        self.write(name, self.files[name])

    def shell(self, command):
        return subprocess.run(["bash", "-e", "-c", command], cwd=self.folder, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)

    def pipeline(self):
        """As GitHub Actions would: the first failure decides, later steps run only if they always do."""
        (self.folder / "summary.md").unlink(missing_ok=True)
        code, output = 0, ""
        for command, always in steps_of(self.files[".github/workflows/perf.yml"]):
            if code == 0 or always:
                step = self.shell(command)
                output += step.stdout
                code = code or step.returncode
        return code, output

    def gate_json(self):
        step = self.shell("sonde check --baseline perf/baseline.txt --limits perf/sonde.toml --json build/shop.sonde 2>/dev/null")
        return step.returncode, json.loads(step.stdout)


def unchanged_runs_pass(project, runs):
    accept = project.shell("perf/gate.sh --accept")
    expect(accept.returncode == 0, "no baseline", accept.stdout)
    size = len((project.folder / "perf/baseline.txt").read_text().splitlines())
    expect(20 < size < 3000, f"a baseline of {size} lines is not small")
    burners = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        sums = set()
        for i in range(runs):
            code, output = project.pipeline()
            expect(code == 0, f"unchanged run {i} fails with {code}", output)
            expect("FAIL" not in output and "warning" not in output, f"unchanged run {i} complains", output)
            sums.add(json.dumps(project.gate_json()[1]["sum"]))
            shutil.copy(project.folder / "build/shop.sonde", project.folder / f"{len(sums)}.sonde")
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    expect(len(sums) == 1, f"the sums of unchanged runs differ: {sums}", project.shell("sonde diff 1.sonde 2.sonde").stdout)
    expect((project.folder / "summary.md").read_text().startswith("### :white_check_mark: Sonde: passed"), "the summary")
    print(f"  {runs} unchanged runs pass under load, each {sums.pop()}; the baseline has {size} lines")


def a_regression_is_caught(project):
    project.edit("src/shop/Pricing.java", "STEPS = 50", "STEPS = 51")
    code, output = project.pipeline()
    expect(code == 3, f"exit code {code} instead of 3", output)
    found = re.search(r"FAIL +own bytecodes of shop\.Pricing\.discount\(int, int\): \S+ -> \S+, \+(\S+) %", output)
    expect(found and 1.5 < float(found[1]) < 2.5, "the method is not named with its growth", output)
    path = r"\+\S+  shop\.Shop\.main\n +\+\S+    shop\.Pricing\.price\n +\+\S+      shop\.Pricing\.discount\n"
    expect(re.search(path, output), "the call path is not named", output)
    code, check = project.gate_json()
    expect(code == 3 and check["verdict"] == "regression", "the verdict in JSON", check)
    worst = [f for f in check["findings"] if f["subject"].startswith("shop.Pricing.discount")][0]
    expect([frame["name"] for frame in worst["path"]] == ["shop.Shop.main", "shop.Pricing.price", "shop.Pricing.discount"], worst)
    suite = xml.etree.ElementTree.parse(project.folder / "build/perf.xml").getroot().find("testsuite")
    failures = [case.get("name") for case in suite if case.find("failure") is not None]
    expect("each of our methods" in failures and suite.get("failures") == str(len(failures)), "JUnit's XML", failures)
    expect(suite.get("tests") == "3", "JUnit's XML has not a test per limit")
    summary = (project.folder / "summary.md").read_text()
    expect("`shop.Pricing.discount(int, int)`" in summary and "REGRESSION" in summary, "the summary", summary)
    project.restore("src/shop/Pricing.java")
    print(f"  a regression of {found[1]} % in one method is caught")


def other_limits_hold(project):
    project.edit("src/shop/Shop.java", "order < 20_000", "order < 20_001")
    code, output = project.pipeline()
    expect(code == 3 and "Shop.main > Index.find" in output and "at most 20000" in output, "the limit on lookups", output)
    project.restore("src/shop/Shop.java")
    project.edit("src/shop/Pricing.java", "STEPS = 50", "STEPS = 40")
    code, output = project.pipeline()
    expect(code == 0 and "FAIL" not in output, "an improvement fails", output)
    project.restore("src/shop/Pricing.java")
    project.edit("perf/sonde.toml", "hard = 20_000", "hard = 20_000 %")
    code, output = project.pipeline()
    expect(code == 1 and "perf/sonde.toml: line 17, column" in output, "a mistake in the limits", output)
    project.restore("perf/sonde.toml")
    print("  absolute limits, improvements and mistakes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sonde", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/sonde-gate"))
    arguments = parser.parse_args()
    sonde = arguments.sonde.resolve()
    jdks = subprocess.run([ROOT / "tools/find_jdks"], text=True, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    if not jdks or not (sonde.parent / "libsonde.so").exists():
        print("no JDK, or no libsonde.so beside sonde")
        return 77
    for line in jdks[:1] if arguments.quick else jdks:
        version, home = line.split(" ", 1)
        print(f"JDK {version}", flush=True)
        try:
            project = Project(arguments.work / version, sonde, home)
            unchanged_runs_pass(project, arguments.runs)
            a_regression_is_caught(project)
            other_limits_hold(project)
        except Failed as failure:
            print(f"  FAILED: {failure}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
