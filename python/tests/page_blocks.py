# SPDX-License-Identifier: MIT
"""Runs what stands on a page: as a program, in a folder and processes of its own.

A test takes the blocks that name it by ``snippets.run_by(ROOT, __file__)``.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Dict, List

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
import snippets  # noqa: E402

__all__ = ["ROOT", "paths", "run_processes", "run_program", "run_shell", "snippets"]


def paths() -> Dict[str, str]:
    """Where this test's package and modules are found."""
    return {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}


def environment(**more: str) -> Dict[str, str]:
    return {**os.environ, **paths(), **more}


def start(program: str, folder: Path, **more: str) -> "subprocess.Popen[str]":
    (folder / "page.py").write_text(program, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, "page.py"], cwd=folder, env=environment(**more), text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip


def run_program(program: str, folder: Path, **more: str) -> str:
    """What it prints; it has to end well."""
    process = start(program, folder, **more)
    text = process.communicate(timeout=240)[0]
    assert process.returncode == 0, text
    return text


IN_A_FUNCTION = """
def main():
%s

import gc
main()
gc.collect()
"""


def run_processes(program: str, folder: Path, size: int) -> None:
    """As torchrun starts it, so that init_process_group() needs no more words. It runs in a function: a model of
    DistributedDataParallel that is there when the interpreter ends keeps Gloo's threads, which may abort the process."""
    program = IN_A_FUNCTION % textwrap.indent(program, "    ")
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
    of_all = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(size), "OMP_NUM_THREADS": "1"}
    processes = [start(program, folder, RANK=str(rank), **of_all) for rank in range(size)]
    texts = [process.communicate(timeout=240)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * size, "\n".join(texts)


def run_shell(code: str, folder: Path, stand_ins: Dict[str, str], **more: str) -> str:
    """What the commands print, with the shell scripts `stand_ins` in the place of programs."""
    programs = folder / "stand_ins"
    programs.mkdir(exist_ok=True)
    for name, script in stand_ins.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    words: List[str] = ["sh", "-e", "-c", code]
    done = subprocess.run(
        words, cwd=ROOT, env={**os.environ, "PATH": path, **more}, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout
