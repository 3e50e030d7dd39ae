#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rewrites jars with a torture pass into jars of the same names in one folder.

usage: rewrite_jars.py BINARY PASS FOLDER JAR...
       rewrite_jars.py --list JAR...    prints the jars and those that their manifests name

Jars and not folders, since only a jar keeps Class-Path and Multi-Release of its manifest. Prints the sum of the programs' summaries; what was refused is in FOLDER/refused.txt.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

SUMMARY = re.compile(r"(\d+) classes, (\d+) methods, refused: (\d+) methods in (\d+) classes .*failed: (\d+)")


def class_path(jar: pathlib.Path) -> list[pathlib.Path]:
    with zipfile.ZipFile(jar) as archive:
        if "META-INF/MANIFEST.MF" not in archive.namelist():
            return []
        manifest = archive.read("META-INF/MANIFEST.MF").decode("utf-8", "replace")
    lines = re.sub(r"\r?\n ", "", manifest)  # long lines continue after a blank
    found = re.search(r"^Class-Path: *(.*?)\r?$", lines, re.MULTILINE)
    return [jar.parent / name for name in found.group(1).split()] if found else []


def closure(jars: list[pathlib.Path]) -> list[pathlib.Path]:
    result: list[pathlib.Path] = []
    waiting = list(jars)
    while waiting:
        jar = waiting.pop(0)
        if jar in result or jar.suffix != ".jar" or not jar.exists():
            continue
        result.append(jar)
        waiting += class_path(jar)
    return result


def pack(folder: pathlib.Path, jar: pathlib.Path) -> None:
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_STORED, strict_timestamps=False) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))


def main() -> int:
    if sys.argv[1] == "--list":
        print(*closure([pathlib.Path(name) for name in sys.argv[2:]]), sep="\n")
        return 0
    binary, pass_name, out = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    totals = [0] * 5
    failed = False
    with open(out / "refused.txt", "w", encoding="utf-8") as refused:
        jars = closure([pathlib.Path(name) for name in sys.argv[4:]])
        for jar in jars:
            folder = out / (jar.name + ".d")
            run = subprocess.run(
                [binary, "--pass", pass_name, "--out", str(folder), str(jar)], stdout=subprocess.PIPE, text=True, check=False
            )
            found = SUMMARY.search(run.stdout)
            if run.returncode != 0 or not found:
                print(f"{jar.name}: exit code {run.returncode}: {run.stdout.strip()}", file=sys.stderr)
                failed = True
            if found:
                totals = [a + int(b) for a, b in zip(totals, found.groups())]
            refused.write((folder / "refused.txt").read_text(encoding="utf-8"))
            (folder / "refused.txt").unlink()
            pack(folder, out / jar.name)
            shutil.rmtree(folder)
    classes, methods, refused_methods, refused_classes, broken = totals
    print(
        f"{classes} classes, {methods} methods, refused: {refused_methods} methods in {refused_classes} classes "
        f"({100 * refused_classes / max(classes, 1):.4f} % of classes), failed: {broken}"
    )
    return 1 if failed else 0


sys.exit(main())
