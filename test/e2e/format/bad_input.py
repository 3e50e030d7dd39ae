#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bad_input.py SONDE WORK: files that are cut off, damaged, or that promise more than any memory holds. Each is refused
with exit code 1 and a sentence that names the place, within a bound of memory; damage that no checksum finds may be read."""

import gzip
import os
import pathlib
import random
import resource
import shutil
import struct
import subprocess
import sys

MOST_MEMORY = 1_200_000  # KiB: a compressed file may inflate to 1 GiB
ADDRESS_SPACE = 4 << 30
STACKS = "".join(f"main;app.Main.main;app.Part{i % 7}.run;java.util.HashMap.get {i}\n" for i in range(1, 200))
PLACES = ("byte ", "line ")


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


class Runner:
    def __init__(self, sonde, work):
        self.sonde, self.work = sonde, work
        self.problems, self.count, self.peak = [], 0, 0

    def sonde_import(self, file):
        """Exit code, words on stderr, peak of memory in KiB."""
        out = self.work / "out.sonde"
        out.unlink(missing_ok=True)
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))  # noqa: E731
        with open(self.work / "stderr", "w+b") as stderr:
            process = subprocess.Popen([self.sonde, "import", file, "-o", out], stderr=stderr, stdout=subprocess.DEVNULL, preexec_fn=limit)
            _, status, usage = os.wait4(process.pid, 0)
            stderr.seek(0)
            words = stderr.read().decode()
        self.count += 1
        self.peak = max(self.peak, usage.ru_maxrss)
        return os.waitstatus_to_exitcode(status), words, usage.ru_maxrss

    def expect(self, what, holds, words):
        if not holds:
            self.problems.append(f"{what}: {words.strip()[:300]}")

    def refused(self, what, content, *sayings):
        file = self.work / "bad"
        file.write_bytes(content)
        code, words, memory = self.sonde_import(file)
        self.expect(f"{what}: exit code {code}", code == 1, words)
        self.expect(f"{what}: no place", any(place in words for place in PLACES), words)
        self.expect(f"{what}: {memory >> 10} MiB", memory < MOST_MEMORY, words)
        for saying in sayings:
            self.expect(f"{what}: not `{saying}`", saying in words, words)

    def survived(self, what, content):
        """Refused with a place, or read: never a crash, never much memory."""
        file = self.work / "bad"
        file.write_bytes(content)
        code, words, memory = self.sonde_import(file)
        self.expect(f"{what}: exit code {code}", code in (0, 1), words)
        self.expect(f"{what}: {memory >> 10} MiB", memory < MOST_MEMORY, words)


def damaged(content, chance):
    changed = bytearray(content)
    for _ in range(3):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def main():
    sonde, work = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    runner = Runner(sonde, work)
    stacks = work / "stacks.txt"
    stacks.write_text(STACKS)
    code, words, _ = runner.sonde_import(stacks)
    assert code == 0, words
    good = {"collapsed": STACKS.encode()}
    for form in ("pprof", "jfr"):
        file = work / f"good.{form}"
        subprocess.run([sonde, "export", work / "out.sonde", "--to", form, "-o", file], check=True)
        good[form] = file.read_bytes()
    good["pprof, not compressed"] = gzip.decompress(good["pprof"])

    chance = random.Random(7)
    for form, content in good.items():
        for size in sorted(chance.randrange(1, len(content)) for _ in range(8)):
            if form == "collapsed":
                runner.survived(f"{form}, {size} bytes of it", content[:size])  # may end behind a number
            else:
                runner.refused(f"{form}, {size} of {len(content)} bytes", content[:size])
        for i in range(12):
            runner.survived(f"{form}, damage {i}", damaged(content, chance))

    member = gzip.compress(bytes(16 << 20), 9)
    runner.refused("a bomb of 10 GB", member * 640, "inflates to more than")
    runner.refused("a bomb in stacks", gzip.compress(b"a;b 1\n" * 64 + b"a;" * (64 << 20), 1), "line 65")
    ten_gigabytes = 10 << 30
    runner.refused("pprof: a field of 10 GB", b"\x12" + varint(ten_gigabytes) + b"xx", "longer than what is left")
    runner.refused("pprof: 10 G values", b"\x0a\x04\x08\x01\x10\x02" + b"\x12" + varint(ten_gigabytes), "longer than what is left")
    chunk = bytearray(good["jfr"])
    chunk[8:16] = struct.pack(">Q", ten_gigabytes)
    runner.refused("jfr: a chunk of 10 GB", bytes(chunk), "declares 10737418240")
    chunk = bytearray(good["jfr"])
    chunk[24:32] = struct.pack(">Q", ten_gigabytes)
    runner.refused("jfr: metadata at 10 GB", bytes(chunk))
    runner.refused("collapsed: a number of 21 digits", b"a;b 100000000000000000000\n", "line 1")

    shutil.rmtree(work)
    for problem in runner.problems[:20]:
        print(problem)
    print(f"{runner.count} files, {len(runner.problems)} problems, at most {runner.peak >> 10} MiB of memory")
    return 1 if runner.problems else 0


if __name__ == "__main__":
    sys.exit(main())
