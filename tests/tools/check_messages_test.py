# SPDX-License-Identifier: MIT
"""Check of messages on small invented repositories."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import check_messages  # noqa: E402


def check(path, text):
    """Returns (exit status, output) of the check over one file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / path
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = check_messages.main([folder])
        return status, output.getvalue()


class CheckMessages(unittest.TestCase):
    def test_a_library_that_names_an_option_is_told_where(self):
        for folder in ("src/serve", "suite", "study", "run"):
            status, output = check(f"{folder}/a.cpp", '// One.\nfail("choose another --out");\n')
            self.assertEqual(status, 1)
            self.assertIn(f"{folder}/a.cpp:2:", output)
            self.assertIn("--out", output)
            self.assertIn("remedy:", output)

    def test_an_option_at_the_start_of_a_message_is_seen(self):
        self.assertEqual(check("study/a.cpp", 'fail("--grid is \'" + text);\n')[0], 1)

    def test_the_tool_may(self):
        self.assertEqual(check("cli/a.cpp", 'fail("choose another --out");\n')[0], 0)

    def test_comments_arguments_and_code_are_no_messages(self):
        for line in ('// "choose another --out"', 'words.push_back("--seed");', 'words = {"--array=" + indices};',
                     "for (; left > 0; --left) {}", 'html += "rgba(var(--best), 1)";', "const char dash = '\"'; --i;"):
            status, output = check("src/a/a.cpp", line + "\n")
            self.assertEqual(status, 0, output)


if __name__ == "__main__":
    unittest.main()
