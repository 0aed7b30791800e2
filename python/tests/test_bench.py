# SPDX-License-Identifier: MIT
"""The benchmark measures and prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def bench(*words: str, folder: Path) -> str:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    result = subprocess.run(
        [sys.executable, "-m", "flightdeck.bench", "overhead", "--problem", "mnist_logreg", "--repeats", "3", *words],
        capture_output=True, text=True, cwd=folder, env={**os.environ, "PYTHONPATH": path},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_it_prints_the_table_of_the_tool(tmp_path: Path) -> None:
    lines = bench("--preset", "economy", "business", folder=tmp_path).splitlines()
    assert lines[1].split() == ["quantity", "plain", "ms", "ms", "ratio", "peak", "MB"]
    assert [line.split()[0] for line in lines[2:]] == ["economy", "business"]
    assert all(float(line.split()[3]) > 1 for line in lines[2:])


def test_it_prints_json(tmp_path: Path) -> None:
    line = json.loads(bench("--json", "--interval", "4", folder=tmp_path))
    assert line["preset"] == "economy"
    assert line["ratio"] > 0 and line["peak_mb"] > 0
