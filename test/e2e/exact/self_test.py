#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""self_test.py --oracle LIB: do run.py and repeat.py notice what they are for?

Puts a fake `sonde` in the profiler's place. It answers `run` with the oracle and `export` with a copy, honestly or
spoiled in one way, and the scripts must say so.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]

FAKE = """#!{python}
import os, pathlib, re, shutil, subprocess, sys
spoil = os.environ.get("SPOIL", "")
if sys.argv[1] == "run":
    out, java = sys.argv[sys.argv.index("-o") + 1], sys.argv[sys.argv.index("--") + 1:]
    if sys.argv[2:sys.argv.index("-o")] != ["--mode", "exact"]:
        sys.exit("other options than the real one is called with")
    java = [word for word in java if not re.match("-X(int|comp|X:.*Compil|X:Tiered.*)", word)]
    agent = "-agentpath:{oracle}=out=" + out + ";include=app/"
    code = subprocess.run([java[0], "-Xint", agent, *java[1:]]).returncode
    if spoil == "lost":
        os.remove(out)
    if spoil == "printed":
        print("spoiled")
    sys.exit(code + (spoil == "exit code"))
source, out = sys.argv[2], sys.argv[sys.argv.index("-o") + 1]
lines = pathlib.Path(source).read_text().splitlines()
if spoil == "value" or spoil == "second run" and os.path.basename(source).startswith("2."):
    lines[-1] = re.sub('"bytecodes":(\\\\d+)', lambda m: '"bytecodes":' + str(int(m[1]) + 1), lines[-1])
if spoil == "context":
    del lines[1]
if spoil == "not JSON":
    lines.append("oops")
pathlib.Path(out).write_text("\\n".join(lines) + "\\n")
sys.exit(spoil == "export")
"""


def call(script, *words, spoil=""):
    """(exit code, stdout) of one of our scripts."""
    environment = {**os.environ, "SPOIL": spoil, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(HERE / script), *map(str, words)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def expect(what, result, code, text):
    good = result[0] == code and text in result[1]
    print(f"{'ok  ' if good else 'FAIL'} {what}")
    if not good:
        print(f"expected exit code {code} and '{text}', got {result[0]}:\n{result[1]}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--oracle", type=pathlib.Path, default=ROOT / "build/dev/liboracle.so")
    parser.add_argument("--app-classes", type=pathlib.Path, default=ROOT / "build/apps")
    arguments = parser.parse_args()
    oracle = arguments.oracle.resolve()
    good = [expect("compare.py --self-test", call("compare.py", "--self-test"), 0, "changes noticed")]
    with tempfile.TemporaryDirectory(prefix="exact-self-test-") as name:
        fake = pathlib.Path(name) / "sonde"
        fake.write_text(FAKE.format(python=sys.executable, oracle=oracle))
        fake.chmod(0o755)
        run = ["run.py", fake, "--no-known", "--oracle", oracle, "--work", f"{name}/work", "--app-classes", arguments.app_classes]
        run += ["--quick", "--apps", "ExitDeep,ThrowArithmetic"]
        honest = call(*run)
        good.append(expect("run.py passes an honest profiler", honest, 0, "4 passed, 0 failed"))
        for spoil, text in (
            ("value", "(+1)"),
            ("context", "missing"),
            ("lost", "wrote no recording"),
            ("printed", "spoiled"),
            ("exit code", "exit code 8 instead of 7"),
            ("not JSON", "JSONDecodeError"),
            ("export", "sonde export: exit code 1"),
        ):
            good.append(expect(f"run.py notices: {spoil}", call(*run, spoil=spoil), 1, text))
        good.append(expect("run.py says what is missing", call("run.py", f"{name}/none"), 77, "missing"))
        good.append(expect("run.py knows its programs", call(*run[:-1], "NoSuch"), 2, "no such program"))

        jdks = subprocess.run([ROOT / "tools/find_jdks"], check=True, capture_output=True, text=True).stdout
        java = f"{jdks.splitlines()[0].split(' ', 1)[1]}/bin/java"
        repeat = ["repeat.py", "--sonde", fake, "-k", "2"]
        command = ["--", java, "-cp", arguments.app_classes / "classes", "app.Recursion"]
        good.append(expect("repeat.py passes equal runs", call(*repeat, *command), 0, "run 2: "))
        good.append(expect("repeat.py notices a difference", call(*repeat, *command, spoil="second run"), 1, "(+1)"))
        nothing = call(*repeat, "--prefix", "nowhere/", *command)
        good.append(expect("repeat.py does not accept nothing", nothing, 1, "nothing is proved"))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
