# SPDX-License-Identifier: MIT
"""The Python of the pages runs as it is written, block after block in one process."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_blocks import ROOT, run_program, snippets

BLOCKS = snippets.run_by(ROOT, __file__)
# What runs before the first block of a page; the README quotes it.
BEFORE = {"README.md": "python/examples/cockpit.py"}


@pytest.mark.parametrize("page", BLOCKS)
def test_the_page_runs(page: str, tmp_path: Path) -> None:
    parts = [(ROOT / BEFORE[page]).read_text(encoding="utf-8")] if page in BEFORE else []
    program = "\n".join(parts + [block.code for block in BLOCKS[page]])
    if ".plot(" in program:
        pytest.importorskip("matplotlib")
    run_program(program, tmp_path)


@pytest.mark.parametrize("language", ["cpp", "python"])
def test_the_readme_has_a_watched_loop_in_ten_lines(language: str) -> None:
    blocks = snippets.blocks_of(ROOT, ROOT / "README.md")
    loop = next(block.code for block in blocks if block.language == language)
    assert "watch" in loop and "backward" in loop
    assert len(loop.splitlines()) <= 10
