#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the limits of src/base/limits.h with the table of docs/wire_format.md, section "Limits".

Usage: check_limits.py [REPOSITORY]
Prints one finding per limit that differs or is in one of the two alone, and exits 1 if there is any.
"""

import re
import sys
from pathlib import Path

CODE = "src/base/limits.h"
PAGE = "docs/wire_format.md"
CONSTANT = re.compile(r"^constexpr int64_t (k\w+) = (?:int64_t\{(\d+)\} << (\d+)|(\d+));", re.MULTILINE)
ROW = re.compile(r"^\| `(k\w+)` \| ([\d ]+|2\^\d+) \|", re.MULTILINE)


def limits_in_code(text):
    return {name: int(plain) if plain else int(factor) << int(shift)
            for name, factor, shift, plain in CONSTANT.findall(text)}


def limits_on_page(text):
    section = text.partition("\n## Limits\n")[2].partition("\n## ")[0]
    values = {}
    for name, shown in ROW.findall(section):
        values[name] = 1 << int(shown[2:]) if shown.startswith("2^") else int(shown.replace(" ", ""))
    return values


def findings(code, page):
    for name in sorted(code.keys() | page.keys()):
        if name not in page:
            yield f"{PAGE}: {name} is missing\n  remedy: add a row for it to the table of limits"
        elif name not in code:
            yield f"{PAGE}: {CODE} has no {name}\n  remedy: remove the row"
        elif code[name] != page[name]:
            yield (f"{PAGE}: {name} is {page[name]} but {code[name]} in {CODE}\n"
                   f"  remedy: make them the same")


def main():
    repository = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    code_text = (repository / CODE).read_text(encoding="utf-8")
    code = limits_in_code(code_text)
    page = limits_on_page((repository / PAGE).read_text(encoding="utf-8"))
    found = list(findings(code, page))
    if len(code) != len(re.findall(r"^constexpr", code_text, re.MULTILINE)):
        found.append(f"{CODE}: a constant has another form than int64_t and a number\n"
                     f"  remedy: write it as the others")
    for finding in found:
        print(finding)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
