# SPDX-License-Identifier: Apache-2.0
"""Who may attach to what, and how: refusals, hostile clients, sleeping agents, containers."""

import os
import pathlib
import socket
import subprocess

from case import Skipped
from jvm import row_of, socket_of, status, wait_until
from recordings import execute

NOBODY = 65534


def refusals(case):
    """Wrong processes are a sentence and an exit code, and nothing happens to them."""

    def refuse(process, sentence, **options):
        out = case.folder / "refused.sonde"
        done = execute([case.sonde, "attach", process, "--duration", "1s", "-o", out], **options)
        case.check(f"{process}: {done.code} {done.stderr}", done.code == 1 and sentence in done.stderr)

    refuse("4194303", "no process")
    refuse(os.getpid(), "is no JVM")
    refuse("no.such.Main", "no JVM runs")
    with case.steady("-XX:+DisableAttachMechanism") as program:
        left_behind = f"/tmp/.java_pid{program.pid}"  # as a JVM does that is killed
        with socket.socket(socket.AF_UNIX) as ended:
            ended.bind(left_behind)
        refuse(program.pid, "DisableAttachMechanism")
        os.unlink(left_behind)
        case.expect("exit code", program.end(), 0)
    with case.steady() as program:
        if os.geteuid() == 0:
            refuse(program.pid, "another user", user=NOBODY, group=NOBODY, cwd="/")
        with case.attach(program, "cpu"):
            refuse(program.pid, "there is a recording already")
        done = execute([case.sonde, "attach", program.pid, "--mode", "nonsense"])
        case.expect("exit code for a wrong mode", done.code, 2)
        case.expect("exit code", program.end(), 0)


def hostile_clients(case):
    """Garbage on the control socket harms nothing; symbolic links lead nowhere."""
    with case.steady() as program:
        with case.attach(program, "exact") as attached:
            program.tell("run 10")
            path = socket_of(program.pid)
            case.expect("mode of the folder", os.stat(os.path.dirname(path)).st_mode & 0o777, 0o700)
            case.expect("mode of the recording", attached.live.stat().st_mode & 0o777, 0o700)
            junk = (b"\n", b"\x00" * 100 + b"\n", b"A" * 100_000, b"start exact\r\n", b"record /etc\n", b"record\n",
                    b"record " + str(case.folder).encode() + b"\n", b"hello 99\n", b"stop nothing\n", os.urandom(5000) + b"\n",
                    b"status\n" * 3000, b"start cpu cpu=0\n", b"start cpu nonsense=1\n", b"detachx\n")  # fmt: skip
            for bytes_ in junk:
                with socket.socket(socket.AF_UNIX) as client:
                    client.settimeout(5)
                    client.connect(path)
                    try:
                        client.sendall(bytes_)
                        client.shutdown(socket.SHUT_WR)
                        while client.recv(4096):
                            pass
                    except OSError:
                        pass  # it hung up on us
            silent = [socket.socket(socket.AF_UNIX) for _ in range(30)]
            for client in silent:
                client.connect(path)
            for client in silent:
                client.close()
            program.tell("run 10")
            case.expect("calls", attached.end().sums()["Steady.work"][0], 20)
        elsewhere = case.folder / "elsewhere"
        elsewhere.mkdir(mode=0o700)
        live = pathlib.Path(f"{case.out}.live")
        live.symlink_to(elsewhere)
        done = execute([case.sonde, "attach", program.pid, "-o", case.out])
        case.check(f"a symbolic link: {done.code} {done.stderr}", done.code == 1 and not list(elsewhere.iterdir()))
        case.expect("exit code", program.end(), 0)


def dormant(case):
    """-agentpath without options: nothing happens until somebody attaches, and then without a warning. Compiled code that has
    nothing to do with what is changed stays."""
    agent = case.sonde.parent / "libsonde.so"
    log = case.out.with_suffix(".log")
    with case.steady(f"-agentpath:{agent}", f"-Xlog:redefine+class+nmethod=debug:file={log}", stderr=subprocess.PIPE) as program:
        case.check("it listens", not os.path.exists(socket_of(program.pid)))
        with case.attach(program, "exact") as attached:
            program.tell("run 10")
            case.expect("calls", attached.end().sums()["Steady.work"][0], 10)
        case.check("a warning is announced", "loaded dynamically" not in "".join(attached.words))
        done = execute([case.sonde, "detach", program.pid])
        case.check(f"detach: {done.stderr}", done.code == 0)
        wait_until("no socket", lambda: not os.path.exists(socket_of(program.pid)), 5)
        with case.attach(program, "cpu") as attached:
            attached.end()
        case.expect("exit code", program.end(), 0)
        case.expect("words of the JVM", program.process.stderr.read(), "")
    words = log.read_text(encoding="utf-8")
    case.check(f"what is thrown away: {words[:200]}", "dependent nmethods" in words and "Marked all" not in words)


def namespaces(case):
    """A JVM with its own /tmp, files and process numbers, as in a container."""
    if case.arguments.work.is_relative_to("/tmp"):
        raise Skipped("the program is in /tmp")
    script = f"mount -t tmpfs none /tmp && mount --bind /dev/null {case.sonde.parent}/libsonde.so && exec \"$@\""
    prefix = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh"]
    if execute([*prefix, "true"]).code != 0:
        raise Skipped("no right to make namespaces")
    with case.steady(prefix=prefix) as program:
        program.pid = program.children()[0]
        rows = execute([case.sonde, "ps"]).stdout
        case.check(f"it is not listed: {rows}", str(program.pid) in rows)
        with case.attach(program, "exact,cpu:1ms") as attached:
            program.tell("run 10")
            case.expect("modes", sorted(row_of(case.sonde, program.pid)["modes"]), ["cpu", "exact"])
            case.expect("state", status(case.sonde, program.pid).get("state"), "running")
            shown = execute([case.sonde, "top", program.pid, "--frames", "1"])
            case.check(f"top: {shown.code} {shown.stderr}", shown.code == 0 and "Process" in shown.stdout)
            case.expect("calls", attached.end().sums()["Steady.work"][0], 10)
        left = [name for name in os.listdir(f"/proc/{program.pid}/root/tmp/sonde-{os.geteuid()}") if "live" in name]
        case.expect("what is left there", left, [])
        program.process.stdin.close()
        program.expect_line("end")
