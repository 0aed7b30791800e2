# SPDX-License-Identifier: MIT
"""Link check on small invented repositories."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import check_links  # noqa: E402


def check(files):
    """Returns (exit status, output) of the check over {path: text}."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            status = check_links.main([folder])
        return status, output.getvalue()


class CheckLinks(unittest.TestCase):
    def expect_whole(self, text):
        status, output = check({"README.md": text, "docs/notation.md": "# Shape letters\n"})
        self.assertEqual(status, 0, output)

    def expect_broken(self, text, words):
        status, output = check({"README.md": text, "docs/notation.md": "# Shape letters\n"})
        self.assertEqual(status, 1, output)
        self.assertIn("README.md:1:", output)
        self.assertIn(words, output)

    def test_existing_targets_pass(self):
        self.expect_whole("[letters](docs/notation.md)")
        self.expect_whole("[letters](docs/notation.md#shape-letters)")
        self.expect_whole("[letters]: docs/notation.md")
        self.expect_whole("see `docs/notation.md`")
        self.expect_whole("[elsewhere](https://example.org/none) and [mail](mailto:a@example.org)")

    def test_missing_targets_are_named(self):
        self.expect_broken("[letters](docs/letters.md)", "docs/letters.md: no such file")
        self.expect_broken("[letters](docs/notation.md#colours)", "no such heading")
        self.expect_broken("[letters]: docs/letters.md", "no such file")
        self.expect_broken("![picture](picture.png)", "no such file")
        self.expect_broken("see `docs/letters.md`", "`docs/letters.md` does not exist")
        self.expect_broken("[up](../../outside.md)", "leaves the repository")

    def test_patterns_and_code_are_skipped(self):
        self.expect_whole("add `docs/<page>.md`")
        self.expect_whole("run `build/flightdeck check`")
        self.expect_whole("```\n[letters](docs/letters.md)\n```")
        self.expect_whole("`[letters](docs/letters.md)`")

    def test_links_are_relative_to_their_document(self):
        status, output = check({"docs/a.md": "[b](b.md) [up](../README.md)", "docs/b.md": "",
                                "README.md": ""})
        self.assertEqual(status, 0, output)


if __name__ == "__main__":
    unittest.main()
