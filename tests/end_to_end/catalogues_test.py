#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds every entry of every catalogue to what all entries owe.

Usage: catalogues_test.py FLIGHTDECK
Entries are those that `FLIGHTDECK list KIND --json` names: none is written down here, so a new one is held to the same
at once. The tree is the one that this file is in.
"""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TREE / "tests/cli"))
import loaded_tool  # noqa: E402


@dataclass
class Kind:
    folders: tuple  # of the catalogue: <name>.cpp
    page: str = ""  # that documents each entry ...
    mention: str = "`{}`"  # ... where this expression, with its name for {}, is found
    tests: str = ""  # the folder with a test that names each entry; empty: tests walk the catalogue


KINDS = {
    "quantities": Kind(("src/quantities/catalogue",), "docs/quantities.md", r"\n### {}\n", "tests/quantities"),
    "lamps": Kind(("src/lamps/catalogue",), "docs/lamps.md", r"\n## {}\n", "tests/lamps"),
    "causes": Kind(("src/lamps/causes",), "docs/causes.md", r"\n## {}\n"),
    "faults": Kind(("run/faults",)),
    "rules": Kind(("src/rules/ops",)),
    "problems": Kind(("suite/problems",), "docs/problems.md"),
    "data_sets": Kind(("suite/data",), "docs/problems.md"),
    "schedules": Kind(("suite/schedules",), "docs/optimizers.md", r"\n\| `{}\b", "tests/suite"),
    "optimizers": Kind(("suite/optimizers", "suite/optimizers/curvature"), "docs/optimizers.md", tests="tests/suite"),
    "experiments": Kind(("run/experiments",), "docs/experiments.md", r"\n## {} \(", "tests/cli"),
    "commands": Kind(("cli/commands",), "README.md", r"(flightdeck |`){}\b", "tests/cli"),
}
MOST_LETTERS = 110  # of a summary


def entries_of(flightdeck, kind):
    answer = loaded_tool.run([flightdeck, "list", kind, "--json"], check=True, stdout=subprocess.PIPE, encoding="utf-8")
    return json.loads(answer.stdout)


def faults_of(name, summary, kind, page, tests):
    """Yields what is wrong with one entry."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        yield "its name is not made of small letters, digits and underscores"
    if not any((TREE / folder / f"{name}.cpp").is_file() for folder in kind.folders):
        yield f"is not in a file {kind.folders[0]}/{name}.cpp"
    if not 10 <= len(summary) <= MOST_LETTERS:
        yield f"its summary has {len(summary)} letters, not 10 to {MOST_LETTERS}"
    if summary != summary.strip() or summary.endswith(".") or "\n" in summary:
        yield "its summary is not one line without a full stop"
    if kind.page and not re.search(kind.mention.format(name), page):
        yield f"{kind.page} has nothing like {kind.mention.format(name)!r}"
    if kind.tests and not re.search(rf"\b{name}\b", tests):
        yield f"no test in {kind.tests} names it"


def texts_in(folder):
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in sorted((TREE / folder).rglob("*"))
                     if path.suffix in (".cpp", ".h", ".py") and path.name != Path(__file__).name)


def main(arguments):
    findings, count = [], 0
    for word, kind in KINDS.items():
        entries = entries_of(arguments[0], word)
        names = [entry["name"] for entry in entries]
        if len(set(names)) != len(names) or not names:
            findings.append(f"{word}: names are missing or taken twice: {', '.join(names)}")
        page = (TREE / kind.page).read_text(encoding="utf-8") if kind.page else ""
        tests = texts_in(kind.tests) if kind.tests else ""
        for entry in entries:
            count += 1
            findings += [f"{word}: {entry['name']}: {fault}"
                         for fault in faults_of(entry["name"], entry["summary"], kind, page, tests)]
    for finding in findings:
        print(finding)
    print(f"catalogues: {count} entries of {len(KINDS)} kinds, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
