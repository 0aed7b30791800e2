#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of tools/check_limits.py."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import check_limits  # noqa: E402

CODE = "constexpr int64_t kOne = 4096;  // of\nconstexpr int64_t kTwo = int64_t{1} << 20;\n"
PAGE = "\n## Limits\n\n| `kOne` | 4 096 | of |\n| `kTwo` | 2^20 | to |\n\n## Next\n| `kOther` | 1 | |\n"


class CheckLimits(unittest.TestCase):
    def findings(self, code, page):
        return list(check_limits.findings(check_limits.limits_in_code(code),
                                          check_limits.limits_on_page(page)))

    def test_accepts_what_is_the_same(self):
        self.assertEqual(self.findings(CODE, PAGE), [])

    def test_finds_other_values(self):
        found = self.findings(CODE.replace("4096", "4097"), PAGE)
        self.assertEqual(len(found), 1)
        self.assertIn("kOne is 4096 but 4097", found[0])

    def test_finds_what_is_on_one_side_alone(self):
        self.assertIn("kTwo is missing", self.findings(CODE, PAGE.replace("`kTwo`", "two"))[0])
        self.assertIn("has no kOne", self.findings(CODE.replace("kOne", "one"), PAGE)[0])


if __name__ == "__main__":
    unittest.main()
