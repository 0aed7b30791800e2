# SPDX-License-Identifier: MIT
"""The check of docs/fidelity.md on small invented repositories."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import check_fidelity  # noqa: E402

FILES = {
    "src/a.cpp": "",
    "tests/a_test.cpp": "TEST(Thing, Works) {}\nTEST_P(Other, Works) {}\n",
    "cli/commands/CMakeLists.txt": "flightdeck_catalogue(tool commands\n  list\n  tune\n)\n",
    "cli/commands/list.cpp": '{"problems", "What can be trained", &problems},',
    "cli/options/tune.cpp": 'add_option("-o,--out", out); add_flag("--all-seeds", all);',
}


def check(*rows, same=None):
    """Returns (exit status, output) of the check over these rows."""
    counted = [row.split("|")[4].strip() for row in rows]
    text = "# Fidelity\n\n| status | meaning | rows |\n|---|---|---|\n"
    for status in check_fidelity.STATUSES:
        number = counted.count(status) if status != "same" or same is None else same
        text += f"| {status} | what it means | {number} |\n"
    text += "\n| " + " | ".join(check_fidelity.COLUMNS) + " |\n|---|---|---|---|---|\n"
    text += "\n".join(rows) + "\n"
    with tempfile.TemporaryDirectory() as folder:
        for path, content in {**FILES, "docs/fidelity.md": text}.items():
            file = Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = check_fidelity.main([folder])
        return status, output.getvalue()


class CheckFidelity(unittest.TestCase):
    def expect_right(self, *rows):
        status, output = check(*rows)
        self.assertEqual(status, 0, output)

    def expect_wrong(self, words, *rows, **options):
        status, output = check(*rows, **options)
        self.assertEqual(status, 1, output)
        self.assertIn(words, output)

    def test_rows_with_files_and_proofs_pass(self):
        self.expect_right("| x | S 1 | `src/a.cpp` | same | `Thing`; all of `theirs` |",
                          "| x | S 1 | `src/a.cpp` | part | `tests/a_test.cpp` |",
                          "| x | S 1 | `src/a.cpp` | differs | `flightdeck tune --all-seeds` |",
                          "| x | S 1 | `src/a.cpp` | same | `flightdeck list problems`, `Other` |",
                          "| x | S 1 | — | missing | no experiment |",
                          "| x | S 1 | — | background | no software |")

    def test_a_file_that_is_not_there_is_told(self):
        self.expect_wrong("no file src/b.cpp", "| x | S 1 | `src/b.cpp` | same | `Thing` |")
        self.expect_wrong("names no file", "| x | S 1 | somewhere | same | `Thing` |")

    def test_a_proof_that_is_not_there_is_told(self):
        self.expect_wrong("no test suite Nothing", "| x | S 1 | `src/a.cpp` | same | `Nothing` |")
        self.expect_wrong("no command fly", "| x | S 1 | `src/a.cpp` | same | `flightdeck fly` |")
        self.expect_wrong("list knows no birds",
                          "| x | S 1 | `src/a.cpp` | same | `flightdeck list birds` |")
        self.expect_wrong("no option --fast",
                          "| x | S 1 | `src/a.cpp` | same | `flightdeck tune --fast` |")
        self.expect_wrong("no file tests/b_test.cpp",
                          "| x | S 1 | `src/a.cpp` | same | `tests/b_test.cpp` |")
        self.expect_wrong("names no test", "| x | S 1 | `src/a.cpp` | same | by eye |")

    def test_what_is_missing_claims_nothing(self):
        self.expect_wrong("missing, but it names", "| x | S 1 | `src/a.cpp` | missing | |")

    def test_statuses_are_known_and_counted(self):
        self.expect_wrong("status done is none of", "| x | S 1 | `src/a.cpp` | done | `Thing` |")
        self.expect_wrong("1 rows are same", "| x | S 1 | `src/a.cpp` | same | `Thing` |", same=2)

    def test_a_row_has_all_columns(self):
        self.expect_wrong("4 cells", "| x | S 1 | `src/a.cpp` | same |")


if __name__ == "__main__":
    unittest.main()
