#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports files and functions over the guideline sizes. Never fails: the sizes guide, they do not bind.

Usage: size.py [REPOSITORY]
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import project  # noqa: E402

FILE_LINES = [
    ("src/rules/ops/", 80),
    ("src/quantities/", 120),
    ("", 400),
]
FUNCTION_LINES = 40
FOLDERS = ("include", "src", "cli", "study", "suite", "examples", "tests", "bench", "tools")
SUFFIXES = {".h", ".cpp", ".cu", ".py"}
# In clang-format's layout a function at namespace level is the text from the last line that starts
# in column 0 and ends with "{" to the "}" in column 0.
NOT_A_FUNCTION = re.compile(r"(namespace|class|struct|enum|union|extern|template\b.*\bstruct)\b|\}")


def long_functions(text):
    """Yields (line, length) of functions over the guideline."""
    start = None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("}"):
            if start is not None and number - start + 1 > FUNCTION_LINES:
                yield start, number - start + 1
            start = None
        elif line.rstrip().endswith("{") and start is None:
            if line[0].isspace() and not line.startswith("    "):
                continue
            if not NOT_A_FUNCTION.match(line):
                start = number


def file_limit(path):
    return next(limit for prefix, limit in FILE_LINES if path.startswith(prefix))


def main(arguments):
    repository = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    count = 0
    for file in project.files(repository, FOLDERS):
        if file.suffix not in SUFFIXES:
            continue
        path = file.relative_to(repository).as_posix()
        text = file.read_text(encoding="utf-8")
        lines = text.count("\n")
        if lines > file_limit(path):
            count += 1
            print(f"{path}: {lines} lines, guideline {file_limit(path)}")
        if file.suffix == ".py":
            continue
        for start, length in long_functions(text):
            count += 1
            print(f"{path}:{start}: function of {length} lines, guideline {FUNCTION_LINES}")
    print(f"size: {count} over the guideline")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
