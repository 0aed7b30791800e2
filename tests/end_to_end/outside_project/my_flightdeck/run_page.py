#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the commands that a page gives to my_flightdeck, in the current folder: run_page.py MY_FLIGHTDECK"""

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(REPOSITORY / "tests/docs"))
import snippets  # noqa: E402

tool = Path(sys.argv[1]).resolve()
environment = {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
for blocks in snippets.run_by(REPOSITORY, __file__).values():
    for block in blocks:
        done = subprocess.run(["sh", "-e", "-c", block.code], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        if done.returncode != 0:
            sys.exit(f"{block.place}: exit status {done.returncode}\n{done.stdout}")
