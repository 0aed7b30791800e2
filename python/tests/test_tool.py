# SPDX-License-Identifier: MIT
"""The command `flightdeck` of the package."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import torch

import flightdeck


def tool(*words: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    # The child finds the package where this process has it.
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return subprocess.run(
        [sys.executable, "-m", "flightdeck", *words], capture_output=True, text=True, cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
    )


def test_it_says_its_version(tmp_path: Path) -> None:
    result = tool("--version", folder=tmp_path)
    assert result.returncode == 0
    assert result.stdout.startswith(f"flightdeck {flightdeck.__version__} ")


def test_the_wheel_has_one_library_and_none_of_pytorchs() -> None:
    installed = importlib.metadata.distribution("flightdeck")
    names = [str(file) for file in installed.files or []]
    assert [name for name in names if ".so" in name] == [f"flightdeck/{Path(flightdeck._engine.__file__).name}"]
    assert {"flightdeck/py.typed", "flightdeck/_engine.pyi"} <= set(names)
    scripts = {script.name: script.value for script in installed.entry_points if script.group == "console_scripts"}
    assert scripts == {"flightdeck": "flightdeck._tool:main"}


def test_the_console_script_has_every_command(tmp_path: Path) -> None:
    script = Path(sysconfig.get_path("scripts")) / "flightdeck"
    listed = subprocess.run([script, "list", "commands", "--json"], capture_output=True, text=True, cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    commands = [command["name"] for command in json.loads(listed.stdout)]
    catalogue = Path(__file__).parents[2] / "cli" / "commands"
    assert sorted(commands) == sorted(file.stem for file in catalogue.glob("*.cpp"))
    for command in commands:
        asked = subprocess.run([script, "help", command], capture_output=True, text=True, cwd=tmp_path)
        assert asked.returncode == 0 and command in asked.stdout, asked.stderr


def test_wrong_usage_is_status_2(tmp_path: Path) -> None:
    result = tool("shwo", folder=tmp_path)
    assert result.returncode == 2
    assert "show" in result.stderr


def test_it_shows_and_exports_what_python_recorded(tmp_path: Path) -> None:
    model = torch.nn.Linear(3, 2)
    with flightdeck.Cockpit(model, ["loss", "grad_norm"], record_to=tmp_path / "runs" / "first") as cockpit:
        for step in range(5):
            losses = model(torch.randn(4, 3)).square().sum(1)
            with cockpit.watch(step, losses):
                losses.mean().backward()
    shown = tool("show", "runs/first", folder=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "grad_norm" in shown.stdout
    exported = tool("export", "runs/first", "--format", "csv", folder=tmp_path)
    assert exported.returncode == 0, exported.stderr


def test_it_trains_and_reports(tmp_path: Path) -> None:
    words = ["run", "mnist_logreg", "--synthetic", "--steps", "5", "--out", "runs/tool"]
    result = tool(*words, folder=tmp_path)
    assert result.returncode == 0, result.stderr
    report = tool("report", "runs/tool", folder=tmp_path)
    assert report.returncode == 0, report.stderr
    assert list((tmp_path).rglob("*.html"))
