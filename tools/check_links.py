#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that what the documents point at exists.

Usage: check_links.py [REPOSITORY]
Looks at every document of the project: relative links, their #anchors in other documents, and paths in backticks that
start with a folder of the repository. A path that is a pattern is written with <...> or * and
skipped. Exits 1 if anything is missing.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import project  # noqa: E402

LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINITION = re.compile(r"^\s*\[[^\]]+\]:\s*<?(\S+?)>?\s*$")
CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(r"[\w.-]+(/[\w.+-]+)*/?$")
EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:")
HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*$")


def documents(repository):
    for name in project.DOCUMENTS:
        if (repository / name).is_file():
            yield repository / name
    for path in project.files(repository):
        if path.suffix == ".md":
            yield path


def prose_lines(text):
    """Yields (number, line) outside fenced code."""
    fence = None
    for number, line in enumerate(text.splitlines(), start=1):
        mark = line.strip()[:3]
        if mark in ("```", "~~~") and fence in (None, mark):
            fence = mark if fence is None else None
        elif fence is None:
            yield number, line


def anchors(document):
    """Returns the anchors that a Markdown viewer gives the headings."""
    found = set()
    for _, line in prose_lines(document.read_text(encoding="utf-8")):
        match = HEADING.match(line)
        if not match:
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match.group(1))
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        repeated = 0
        unique = anchor
        while unique in found:
            repeated += 1
            unique = f"{anchor}-{repeated}"
        found.add(unique)
    return found


def link_problem(repository, document, target):
    path, _, anchor = target.partition("#")
    if path.startswith("/"):
        return f"link {target} is absolute; write it relative to the document"
    file = (document.parent / path).resolve() if path else document
    if not file.is_relative_to(repository):
        return f"link {target} leaves the repository"
    if not file.exists():
        return f"link {target}: no such file"
    if anchor and file.suffix == ".md" and anchor not in anchors(file):
        return f"link {target}: no such heading"
    return None


def path_problem(repository, code):
    code = code.removeprefix("./")
    if code.partition("/")[0] not in project.FOLDERS or "/" not in code or not PATH.match(code):
        return None
    if (repository / code).exists():
        return None
    return f"path `{code}` does not exist; write a pattern as <name>"


def findings_in(repository, document):
    text = document.read_text(encoding="utf-8")
    for number, line in prose_lines(text):
        without_code = CODE.sub("``", line)
        targets = LINK.findall(without_code) + DEFINITION.findall(without_code)
        problems = [link_problem(repository, document, target)
                    for target in targets if not EXTERNAL.match(target)]
        problems += [path_problem(repository, code) for code in CODE.findall(line)]
        for problem in problems:
            if problem:
                yield f"{document.relative_to(repository)}:{number}: {problem}"


def main(arguments):
    repository = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    files = list(documents(repository))
    findings = [finding for file in files for finding in findings_in(repository, file)]
    for finding in findings:
        print(finding)
    print(f"check_links: {len(files)} documents, {len(findings)} broken links or paths")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
