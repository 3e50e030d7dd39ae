#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples.py SONDE: every option of every command line of sonde in the documentation, and in the examples that `--help`
prints, is one that the command knows."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
NOT_IN_HELP = {("run", "--scheme")}  # for comparison only
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def help_of(sonde, *command):
    return subprocess.run([sonde, *command, "--help"], check=True, capture_output=True, text=True).stdout


def commands_of(text):
    """The names in the list of subcommands."""
    part = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.M)
    return re.findall(r"^  (\S+)", part.group(1), re.M) if part else []


def command_lines(text):
    """What follows `sonde` in code: lines of blocks, with those they go on in, and words between backticks."""
    text = text.replace("\\\n", " ")
    blocks = re.findall(r"^```.*?\n(.*?)^```", text, re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    lines += re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    return [part for line in lines for part in words_of_sonde(line)]


def words_of_sonde(line):
    return re.findall(r"(?:^|[\s(])sonde ([a-z][^|;&)]*)", line.split(" #")[0])


def main():
    sonde = str(pathlib.Path(sys.argv[1]).resolve())
    helps = {}
    for name in commands_of(help_of(sonde)):
        helps[(name,)] = help_of(sonde, name)
        for sub in commands_of(helps[(name,)]):
            helps[(name, sub)] = help_of(sonde, name, sub)
    sources = [(path.relative_to(ROOT), line) for path in DOCUMENTS for line in command_lines(path.read_text())]
    for command, text in helps.items():
        sources += [(f"sonde {' '.join(command)} --help", line) for example in re.findall(r"^  (sonde .*)$", text, re.M) for line in words_of_sonde(example)]
    problems, count = [], 0
    for source, line in sources:
        words = line.split(" -- ")[0].split()  # what follows is another program's
        command = tuple(words[:2]) if tuple(words[:2]) in helps else tuple(words[:1])
        if command not in helps:
            problems.append(f"{source}: `sonde {line}`: there is no command `{words[0]}`")
            continue
        for option in re.findall(r"(?<!\S)--?[a-z][a-z-]*", " ".join(words)):
            count += 1
            if (command[0], option) not in NOT_IN_HELP and not re.search(rf"(?<![\w-]){option}(?![\w-])", helps[command].split("\nExamples:")[0]):
                problems.append(f"{source}: `sonde {line}`: `{' '.join(command)}` has no option {option}")
    print("\n".join(sorted(set(problems))) or f"{count} options in {len(sources)} command lines are known")
    return 1 if problems or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
