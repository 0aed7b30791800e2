#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the C++ blocks of all pages as one source file, which the build compiles.

Usage: write_program.py REPOSITORY OUT.cpp
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import snippets  # noqa: E402


def main(arguments):
    repository, out = Path(arguments[0]).resolve(), Path(arguments[1])
    try:
        found = [block for page in snippets.pages(repository)
                 for block in snippets.blocks_of(repository, page)]
    except snippets.BadPage as error:
        print(error, file=sys.stderr)
        return 1
    out.write_text(snippets.program(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
