# SPDX-License-Identifier: MIT
"""The stubs name what the compiled part has, no more and no less, and the examples are typed."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Dict, Set

import flightdeck
import pytest
import torch
from flightdeck import _engine

STUBS = Path(flightdeck.__file__).with_name("_engine.pyi")
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def names_of(body: "list[ast.stmt]") -> Set[str]:
    names: Set[str] = set()
    for statement in body:
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            names.add(statement.name)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names.add(statement.target.id)
    return {name for name in names if not name.startswith("_")}


def test_stubs_are_complete() -> None:
    tree = ast.parse(STUBS.read_text())
    classes: Dict[str, ast.ClassDef] = {entry.name: entry for entry in tree.body if isinstance(entry, ast.ClassDef)}
    assert names_of(tree.body) == {name for name in dir(_engine) if not name.startswith("_")}

    def members(name: str) -> Set[str]:
        entry = classes[name]
        inherited = {base.id for base in entry.bases if isinstance(base, ast.Name)}
        return names_of(entry.body).union(*(members(base) for base in inherited))

    for name in classes:
        runtime = {member for member in dir(getattr(_engine, name)) if not member.startswith("_")}
        assert members(name) == runtime, name


@pytest.mark.skipif(torch.__version__.startswith("1."), reason="the types of PyTorch 1.13 itself are not strict")
def test_the_package_and_its_examples_are_typed(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    words = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(root / "pyproject.toml"),
             "--cache-dir", str(tmp_path)]
    for example in sorted(EXAMPLES.glob("*.py")):
        words.append(str(example))
    result = subprocess.run(
        words, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "MYPYPATH": str(root / "python")}
    )
    assert result.returncode == 0, f"{result.stdout}{result.stderr}"


def test_examples_run(tmp_path: Path) -> None:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    for example in sorted(EXAMPLES.glob("*.py")):
        result = subprocess.run(
            [sys.executable, str(example)], capture_output=True, text=True, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path},
        )
        assert result.returncode == 0, result.stderr
        assert result.stdout
