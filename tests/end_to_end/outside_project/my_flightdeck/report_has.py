# SPDX-License-Identifier: MIT
"""Exits with 0 if the values inside a report (gzip in base64) name every one of the words.

Usage: report_has.py REPORT WORD...
"""

import base64
import binascii
import gzip
import re
import sys
from pathlib import Path


def contents(page):
    for text in re.findall(r"H4sI[A-Za-z0-9+/]{100,}={0,2}", page):
        try:
            yield gzip.decompress(base64.b64decode(text)).decode("utf-8")
        except (binascii.Error, OSError, EOFError, UnicodeDecodeError):
            continue


def main(report, *words):
    content = " ".join(contents(Path(report).read_text(encoding="utf-8")))
    missing = [word for word in words if f'"{word}' not in content]
    for word in missing:
        print(f"{report} has no {word}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
