# SPDX-License-Identifier: Apache-2.0
"""Programs that run while `sonde attach` comes and goes."""

import json
import os
import pathlib
import select
import signal
import subprocess
import time

from recordings import Failed, Recording, execute

ANSWER_S = 60


class Child:
    """A process that does not outlive the block it is used in."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Steady(Child):
    """A JVM with Steady.java in it."""

    def __init__(self, jdk, classes, *options, prefix=(), stderr=subprocess.DEVNULL):
        command = [*prefix, jdk.java, "-Xmx160m", *options, "-cp", str(classes), "Steady"]
        self.jdk = jdk
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True)
        self.pid = self.process.pid
        self.expect_line("ready")

    def expect_line(self, expected=None):
        if not select.select([self.process.stdout], [], [], ANSWER_S)[0]:
            raise Failed(f"the program does not answer for {ANSWER_S} s")
        line = self.process.stdout.readline().strip()
        if expected is not None and line != expected:
            raise Failed(f"the program says {line!r} instead of {expected!r}")
        return line

    def send(self, words):
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()

    def tell(self, words):
        self.send(words)
        return self.expect_line()

    def spin(self, milliseconds):
        """Calls per millisecond; wrong results are an error."""
        _, calls, wrong = self.tell(f"spin {milliseconds}").split()
        if wrong != "0":
            raise Failed(f"{wrong} of {calls} results are wrong")
        return int(calls) / milliseconds

    def speed_again(self, before):
        """The speed after a recording, once what was changed back is compiled again: when that is, the JVM decides."""
        speed = 0
        for _ in range(30):
            speed = max(speed, self.spin(700))
            if speed > 0.6 * before:
                break
        return speed

    def status(self, name):
        """A number in /proc/PID/status, in KB."""
        text = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(next(line for line in text.splitlines() if line.startswith(name)).split()[1])

    def children(self):
        return [int(pid) for pid in pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()]

    def jcmd(self, *words):
        done = execute([self.jdk.home / "bin/jcmd", self.pid, *words])
        if done.code != 0:
            raise Failed(f"jcmd {words}: {done.stdout}{done.stderr}")
        return done.stdout

    def end(self):
        """Its exit code, after it was asked to end."""
        self.process.stdin.close()
        self.expect_line("end")
        return self.process.wait(timeout=ANSWER_S)


class Attached(Child):
    """`sonde attach` at work. Leaving the block ends it as Ctrl-C does."""

    def __init__(self, sonde, pid, out, *options):
        self.sonde, self.out = sonde, pathlib.Path(out)
        self.live = pathlib.Path(f"{out}.live")
        self.began = time.monotonic()
        command = [str(sonde), "attach", str(pid), "-o", str(out), *map(str, options)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.words = []
        while "recording process" not in "".join(self.words):
            line = self.process.stderr.readline()
            if not line:
                raise Failed(f"sonde attach: exit code {self.process.wait()}: {''.join(self.words)}")
            self.words.append(line)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.wait()

    def wait(self):
        self.words += self.process.stderr.readlines()
        code = self.process.wait(timeout=ANSWER_S)
        if code != 0:
            raise Failed(f"sonde attach: exit code {code}: {''.join(self.words)}")
        return Recording(self.sonde, self.out)


def status(sonde, pid):
    return json.loads(execute([sonde, "status", pid, "--json"]).stdout)


def row_of(sonde, pid):
    """What `sonde ps` has about a JVM."""
    return next(row for row in json.loads(execute([sonde, "ps", "--json"]).stdout) if row["pid"] == pid)


def wait_until(what, holds, seconds):
    """How long it took."""
    begin = time.monotonic()
    while not holds():
        if time.monotonic() - begin > seconds:
            raise Failed(f"not within {seconds} s: {what}")
        time.sleep(0.02)
    return time.monotonic() - begin


def socket_of(pid):
    return f"/tmp/sonde-{os.geteuid()}/{pid}"
