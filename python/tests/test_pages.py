# SPDX-License-Identifier: MIT
"""The Python of the pages runs as it is written, block after block in one process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
import snippets  # noqa: E402

MARK = "python/tests/test_pages.py does"
PAGES = [page for page in snippets.pages(ROOT) if MARK in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_runs(page: Path, tmp_path: Path) -> None:
    blocks = [block for block in snippets.blocks_of(ROOT, page) if block.argument == MARK]
    assert blocks
    if any(".plot(" in block.code for block in blocks):
        pytest.importorskip("matplotlib")
    program = tmp_path / "page.py"
    program.write_text("\n".join(block.code for block in blocks), encoding="utf-8")
    path = os.pathsep.join(entry for entry in sys.path if entry)
    result = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert result.returncode == 0, result.stderr
