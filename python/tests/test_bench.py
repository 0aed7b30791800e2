# SPDX-License-Identifier: MIT
"""The benchmark measures and prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from flightdeck.bench.overhead import agrees


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


def test_it_measures_the_tool_beside_it(tmp_path: Path) -> None:
    """Whether they agree only a quiet machine can tell."""
    words = ["--problem", "mnist_logreg", "--repeats", "3", "--json", "--beside-tool"]
    path = os.pathsep.join(entry for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "-m", "flightdeck.bench", "overhead", *words], stdout=subprocess.PIPE, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )
    line = json.loads(done.stdout)
    assert line["tool"]["ratio"] > 0 and line["tool"]["plain_ms"] > 0
    assert done.returncode == (0 if line["agrees"] else 1)


def test_ratios_agree_within_a_tenth_and_a_fifth_of_a_millisecond() -> None:
    tools = {"ratio": 5.0}
    assert agrees({"plain_ms": 0.4, "ms": 2.0}, tools)
    assert agrees({"plain_ms": 0.4, "ms": 2.39}, tools) and agrees({"plain_ms": 0.4, "ms": 1.61}, tools)
    assert not agrees({"plain_ms": 0.4, "ms": 2.41}, tools) and not agrees({"plain_ms": 0.4, "ms": 1.59}, tools)
