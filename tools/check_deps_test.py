#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does tools/check_deps see what it is there to see? Each case is a one-file source tree."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK_DEPS = pathlib.Path(__file__).resolve().parent / "check_deps"


def check(path, text):
    """Runs check_deps on a tree that holds one file; returns (exit code, what it complained about)."""
    with tempfile.TemporaryDirectory() as root:
        file = pathlib.Path(root, path)
        file.parent.mkdir(parents=True)
        file.write_text(text)
        done = subprocess.run([sys.executable, CHECK_DEPS, root], capture_output=True, text=True, check=False)
        return done.returncode, done.stderr


class CheckDeps(unittest.TestCase):
    def assert_refused(self, path, text, reason):
        code, complaint = check(path, text)
        self.assertEqual(code, 1)
        self.assertIn(reason, complaint)
        self.assertIn(path, complaint)

    def assert_allowed(self, path, text):
        self.assertEqual(check(path, text), (0, ""))

    def test_follows_the_arrows(self):
        self.assert_allowed("src/classfile/a.cc", '#include "base/result.h"\n#include "classfile/a.h"\n#include <vector>\n')
        self.assert_allowed("src/cli/a.cc", '#include "archive/zip.h"\n#include "classfile/a.h"\n#include <fmt/format.h>\n')
        self.assert_refused("src/classfile/a.cc", '\n#include "archive/zip.h"\n', "a.cc:2: classfile may not depend on archive")
        self.assert_refused("src/base/a.h", '#include "classfile/a.h"\n', "base may not depend on classfile")
        self.assert_refused("src/agent/entry.cc", '#include "store/file.h"\n', "agent may not depend on store")

    def test_keeps_special_headers_in_their_folder(self):
        self.assert_allowed("src/agent/jvmti/env.h", "#include <jvmti.h>\n")
        self.assert_refused("src/agent/session/a.cc", "#include <jvmti.h>\n", "only in src/agent/jvmti/")
        self.assert_refused("src/profile/a.cc", "#include <sqlite3.h>\n", "only in src/store/")

    def test_keeps_third_party_code_out_of_the_target(self):
        self.assert_allowed("src/base/a.cc", "#include <cstdint>\n#include <sys/mman.h>\n#include <unistd.h>\n")
        self.assert_allowed("src/base/a_test.cc", "#include <gtest/gtest.h>\n")
        self.assert_refused("src/base/a.cc", "#include <fmt/format.h>\n", "third-party header <fmt/format.h>")
        self.assert_refused("src/classfile/a.cc", "#include <zlib.h>\n", "third-party header <zlib.h>")

    def test_wants_full_paths_and_known_folders(self):
        self.assert_refused("src/base/a.cc", '#include "a.h"\n', '"base/a.h"')
        self.assert_refused("src/base/a.cc", '#include "util/a.h"\n', "src/util/ is not in the table")
        self.assert_refused("src/cli/a.cc", "#include <base/result.h>\n", "with quotes")
        self.assert_refused("src/helpers/a.cc", "", "src/helpers/ is not in the table")


if __name__ == "__main__":
    unittest.main()
