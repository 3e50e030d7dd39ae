#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the test programs and runs nothing: test/apps/{exact,exact21,old,native} -> FOLDER.

  FOLDER/classes      exact/ and the generated sources, `javac --release 17` of the oldest JDK, one call; and old/
  FOLDER/classes21    exact21/, with the oldest JDK >= 21, if there is one
  FOLDER/libnative_calls.so
Nothing is done when no source is newer than the stamp. Other scripts use build() and App.
"""

import argparse
import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@dataclasses.dataclass(frozen=True)
class Jdk:
    version: str
    home: pathlib.Path

    @property
    def major(self):
        return int(self.version.split(".")[0].split("-")[0])

    @property
    def java(self):
        return str(self.home / "bin/java")


@dataclasses.dataclass(frozen=True)
class App:
    name: str
    classes: pathlib.Path
    min_jdk: int
    jvm_options: tuple = ()

    def command(self, jdk, options=()):
        """The command line without anything of a profiler; `options` go to the JVM."""
        return [jdk.java, *options, *self.jvm_options, "-cp", str(self.classes), f"app.{self.name}"]


def find_jdks():
    lines = subprocess.run([ROOT / "tools/find_jdks"], check=True, capture_output=True, text=True).stdout.splitlines()
    jdks = {}
    for line in lines:
        version, home = line.split(" ", 1)
        jdk = Jdk(version, pathlib.Path(home))
        jdks.setdefault(jdk.major, jdk)  # one of each major version is enough
    return [jdks[major] for major in sorted(jdks)]


def sources():
    return [path for path in sorted(HERE.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]


def is_fresh(stamp, jdks):
    """No file newer than the stamp, none added or removed, the same JDKs."""
    content = "\n".join([str(jdk) for jdk in jdks] + [str(path.relative_to(HERE)) for path in sources()])
    fresh = stamp.exists() and stamp.read_text() == content
    return fresh and all(path.stat().st_mtime <= stamp.stat().st_mtime for path in sources()), content


def compile_all(folder, jdks):
    # javac writes the same bytes for the same sources only within one JDK, so all JVMs run the oldest one's classes.
    classes, generated = folder / "classes", folder / "generated"
    subprocess.run([sys.executable, HERE / "generate_large.py", generated], check=True)
    javac = [str(jdks[0].home / "bin/javac"), "-nowarn", "-Xlint:none", "-g", "--release", "17", "-d", str(classes)]
    files = [str(path) for path in [*sorted((HERE / "exact").glob("*.java")), *sorted(generated.glob("*.java"))]]
    subprocess.run([*javac, *files], check=True)
    for path in (HERE / "old/app").glob("*.class"):
        shutil.copy(path, classes / "app")

    newer = [jdk for jdk in jdks if jdk.major >= 21]
    if newer:
        files = [str(path) for path in sorted((HERE / "exact21").glob("*.java"))]
        javac = [str(newer[0].home / "bin/javac"), "-nowarn", "-g", "--release", "21", "-d", str(folder / "classes21")]
        subprocess.run([*javac, *files], check=True)

    include = jdks[0].home / "include"
    compiler = os.environ.get("CC", "cc")
    options = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-I", str(include), "-I", str(include / "linux")]
    library = folder / "libnative_calls.so"
    subprocess.run([compiler, *options, "-o", str(library), str(HERE / "native/native_calls.c")], check=True)


def build(folder, jdks):
    """Compiles what is out of date and returns the programs in alphabetical order."""
    folder = pathlib.Path(folder).resolve()
    stamp = folder / "stamp"
    fresh, content = is_fresh(stamp, jdks)
    if not fresh:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        compile_all(folder, jdks)
        stamp.write_text(content)

    native = (f"-Dapp.native={folder / 'libnative_calls.so'}", "--enable-native-access=ALL-UNNAMED")
    programs = []
    for source, classes, min_jdk in (
        (HERE / "exact", folder / "classes", 17),
        (folder / "generated", folder / "classes", 17),
        (HERE / "exact21", folder / "classes21", 21),
    ):
        for path in source.glob("*.java"):
            options = native if path.stem == "NativeCalls" else ()
            programs.append(App(path.stem, classes, min_jdk, options))
    programs += [App(path.stem, folder / "classes", 17) for path in (HERE / "old/app").glob("*.class")]
    return sorted(programs, key=lambda app: app.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", default=ROOT / "build/apps", type=pathlib.Path)
    arguments = parser.parse_args()
    jdks = find_jdks()
    if not jdks:
        sys.exit("no JDK found; tools/find_jdks says where it looks")
    for app in build(arguments.folder, jdks):
        print(app.name, app.classes)


if __name__ == "__main__":
    main()
