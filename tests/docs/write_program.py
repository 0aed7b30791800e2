#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes C++ blocks of the pages as source files, which the build compiles.

Usage: write_program.py REPOSITORY OUT.cpp              all that are part of a page's program, as one file
       write_program.py REPOSITORY FOLDER PROGRAM.cpp   those that PROGRAM.cpp runs: FOLDER/PROGRAM_includes.inc and
                                                        FOLDER/PROGRAM_body.inc, which it includes
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import snippets  # noqa: E402

# What a program has in the place of something on its page.
STAND_INS = {
    "page_process": {'"/shared/store"': "store_path", "c10d::ProcessGroup>(group)": "Base>(group)"},
}


def write_parts(repository, folder, program):
    includes, body = [], []
    for blocks in snippets.run_by(repository, program).values():
        for block in blocks:
            first, rest = snippets.split_includes(block, snippets.replaced(block, STAND_INS.get(program.stem, {})))
            includes += first
            body += rest
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{program.stem}_includes.inc").write_text("".join(includes), encoding="utf-8")
    (folder / f"{program.stem}_body.inc").write_text("".join(body), encoding="utf-8")


def write_all(repository, out):
    found = [block for page in snippets.pages(repository) for block in snippets.blocks_of(repository, page)]
    out.write_text(snippets.program(found), encoding="utf-8")


def main(arguments):
    repository, out = Path(arguments[0]).resolve(), Path(arguments[1])
    try:
        if len(arguments) > 2:
            write_parts(repository, out, Path(arguments[2]).resolve())
        else:
            write_all(repository, out)
    except snippets.BadPage as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
