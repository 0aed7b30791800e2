#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the libraries to words of their own: no message in src/, suite/, study/ and run/ names an option of the
command line. The tool says it in its words (cli/text/tool_words.cpp).

Usage: check_messages.py [REPOSITORY]
Prints one finding per message and exits 1 if there is any.

A text that is one word and begins with --, like "--array=" or "--seed", is an argument for a program that is started,
not a message.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import project  # noqa: E402

LIBRARIES = ("src", "suite", "study", "run")
SOURCE_SUFFIXES = {".h", ".cpp", ".cu"}
# Comments come first, so that quotes inside them open no text.
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?P<raw>.*?)\)"|"(?P<text>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])+\'',
                   re.DOTALL)
OPTION = re.compile(r"""(?:^|[\s'"(,;])(--[a-z][a-z-]*)""")
ARGUMENT = re.compile(r"--[a-z][a-z-]*(=\S*)?")


def texts_in(source):
    """Yields (line number, text) of every string literal."""
    for match in TOKEN.finditer(source):
        text = match["raw"] if match["raw"] is not None else match["text"]
        if text is not None:
            yield source.count("\n", 0, match.start()) + 1, text


def findings_in(path, source):
    for number, text in texts_in(source):
        option = OPTION.search(text)
        # A style sheet's variable is written var(--name).
        if option is None or ARGUMENT.fullmatch(text) or f"var({option[1]}" in text:
            continue
        yield (f'{path}:{number}: a message of a library names {option[1]} ("{text}")\n'
               f"  remedy: say it in words of the API, and translate them in cli/text/tool_words.cpp")


def main(arguments):
    repository = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    files = [path for path in project.files(repository, LIBRARIES) if path.suffix in SOURCE_SUFFIXES]
    findings = [finding for path in files
                for finding in findings_in(path.relative_to(repository), path.read_text(encoding="utf-8"))]
    for finding in findings:
        print(finding)
    print(f"check_messages: {len(files)} files, {len(findings)} messages that name an option")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
