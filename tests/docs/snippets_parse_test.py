#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests that no block of a page escapes snippets.py, and how output is compared."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import snippets  # noqa: E402
from snippets_test import missing_line  # noqa: E402


class Blocks(unittest.TestCase):
    def test_indented_blocks_lose_their_indentation(self):
        found = snippets.blocks("p.md", "1. Do:\n\n   ```sh\n   a\n     b\n   ```\n")
        self.assertEqual([(b.language, b.line, b.code) for b in found], [("sh", 4, "a\n  b\n")])

    def test_a_comment_belongs_to_the_next_block_alone(self):
        text = "<!-- snippet: file a/main.cpp -->\n```cpp\nint a;\n```\n```cpp\nint b;\n```\n"
        self.assertEqual([(b.directive, b.argument) for b in snippets.blocks("p.md", text)],
                         [("file", "a/main.cpp"), ("", "")])

    def test_what_could_hide_a_snippet_is_refused(self):
        for text in ("```\nflightdeck run\n```\n",  # no language
                     "```console\n$ ls\n```\n",  # an unknown one
                     "```sh\nls\n",  # no end
                     "<!-- snippet: run by -->\n```sh\nls\n```\n",  # no test
                     "<!-- snippet: not run: it is long -->\n```sh\nls\n```\n",  # no way to say so
                     "<!-- snippet: skip -->\n```sh\nls\n```\n",
                     "<!-- snippet: until Ctrl-C -->\n```cpp\nint a;\n```\n",
                     "<!-- snippet: output -->\n\n```text\na\n```\n"):  # not on the line above
            with self.assertRaises(snippets.BadPage, msg=text):
                snippets.blocks("p.md", text)

    def test_a_page_is_one_program_of_nested_scopes(self):
        text = "```cpp\n#include <vector>\nint a = 1;\n```\nand\n```cpp\nint a = 2;\n```\n"
        source = snippets.program(snippets.blocks("docs/p.md", text))
        self.assertIn('#line 3 "docs/p.md"\nint a = 1;\n{\n#line 7 "docs/p.md"\nint a = 2;\n}}', source)
        self.assertLess(source.index("#include <vector>"), source.index("struct Page_p"))


class Output(unittest.TestCase):
    def test_numbers_and_charts_may_differ(self):
        self.assertIsNone(missing_line("loss  300  1.5  -nan ▁▂█", "first\nloss 7 1e-3 0.25  ███\nlast"))

    def test_words_and_their_order_may_not(self):
        self.assertEqual(missing_line("alpha 1\nloss 2", "loss 1\nalpha 2"), "loss 2")
        self.assertEqual(missing_line("grad_norm 1", "grad_nrm 1"), "grad_norm 1")

    def test_lines_may_be_left_out(self):
        self.assertIsNone(missing_line("a\nc", "a\nb\nc"))


if __name__ == "__main__":
    unittest.main()
