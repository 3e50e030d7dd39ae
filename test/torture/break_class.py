#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks the compiled controls of the torture harness (java/controls) so that only a verifier can tell.

usage: break_class.py IN.class OUT.class [MAJOR-VERSION]
"""
import pathlib
import re
import sys

# In each control exactly one of these patterns occurs, once.
DAMAGES = [
    (re.compile(rb"\x11\x12\x34\xac"), b"\x11\x12\x34\xb0"),  # sipush 0x1234; ireturn -> areturn
    (re.compile(rb"\xfc\x00.\x01", re.DOTALL), None),  # append_frame with an int -> with a float
]


def broken(data: bytes) -> bytes:
    hits = [(match, new) for pattern, new in DAMAGES for match in pattern.finditer(data)]
    if len(hits) != 1:
        raise SystemExit(f"break_class.py: {len(hits)} places to break; the control must have exactly one")
    match, new = hits[0]
    replacement = new if new is not None else match.group()[:-1] + b"\x02"
    return data[: match.start()] + replacement + data[match.end() :]


def main() -> None:
    source, target = map(pathlib.Path, sys.argv[1:3])
    data = broken(source.read_bytes())
    if len(sys.argv) > 3:
        data = data[:6] + int(sys.argv[3]).to_bytes(2, "big") + data[8:]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


main()
