# SPDX-License-Identifier: MIT
"""What belongs to the project in a folder where people also build, train and keep things of their own.

A list, not git's: a release has no .git, and a checkout may be dirty."""

import os
from pathlib import Path

FOLDERS = (".ci", "baselines", "bench", "cli", "cmake", "docs", "examples", "fuzz", "include", "python", "run",
           "src", "study", "suite", "tests", "tools", "web")
DOCUMENTS = ("CHANGELOG.md", "CONTRIBUTING.md", "README.md")
# What tools leave in these folders.
LEFT_BEHIND = {"node_modules", "dist", "__pycache__"}


def files(repository, folders=FOLDERS):
    """Yields the files in folders of the project, without hidden ones and what tools left there."""
    for folder in folders:
        for place, inside, names in os.walk(Path(repository) / folder):
            inside[:] = sorted(name for name in inside
                               if not name.startswith(".") and name not in LEFT_BEHIND)
            for name in sorted(names):
                path = Path(place) / name
                if not name.startswith(".") and path.is_file():
                    yield path
