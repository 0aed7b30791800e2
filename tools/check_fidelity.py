#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every row of docs/fidelity.md names what exists.

Usage: check_fidelity.py [REPOSITORY]
A row says where a published feature is here and what proves it. What is claimed to be here names files that exist and a
proof that does: a test suite of tests/*.cpp, a file, or a command with the words and options that it has. The numbers
of the table of statuses are those of the rows. Exits 1 if anything is wrong.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import project  # noqa: E402

COLUMNS = ["feature", "where published", "here", "status", "proof"]
HERE = ("same", "differs", "part")
STATUSES = (*HERE, "missing", "background")
NOTHING = "—"
CODE = re.compile(r"`([^`]+)`")
SUITE = re.compile(r"^[ ]*(?:TYPED_)?TEST(?:_[FP])?\(\s*([A-Za-z0-9_]+)", re.MULTILINE)
OPTION = re.compile(r"\"(?:-\w,)?(--[a-z][a-z-]*)")


def catalogue(path):
    """The words that a catalogue's CMakeLists.txt names."""
    if not path.is_file():
        return set()
    return set(re.findall(r"^\s+([a-z][a-z0-9_]*)\s*$", path.read_text(encoding="utf-8"), re.MULTILINE))


def words_of_list(repository):
    path = repository / "cli/commands/list.cpp"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return set(re.findall(r"\{\"([a-z_]+)\", \"", text))


class Proofs:
    """What a row can name."""

    def __init__(self, repository):
        self.repository = repository
        self.suites, self.options = set(), set()
        for path in project.files(repository, ("tests", "cli")):
            if path.suffix == ".cpp":
                found = SUITE if "tests" in path.relative_to(repository).parts else OPTION
                kept = self.suites if found is SUITE else self.options
                kept.update(found.findall(path.read_text(encoding="utf-8")))
        self.commands = catalogue(repository / "cli/commands/CMakeLists.txt")
        self.second = {"list": words_of_list(repository),
                       "experiment": catalogue(repository / "run/experiments/CMakeLists.txt"),
                       "bench": catalogue(repository / "cli/bench/commands/CMakeLists.txt")}

    def command_problem(self, words):
        if words[0] not in self.commands:
            return f"there is no command {words[0]}"
        names = [word for word in words[1:] if not word.startswith("--")]
        known = self.second.get(words[0])
        if known is not None and names and names[0].replace("-", "_") not in known:
            return f"{words[0]} knows no {names[0]}"
        for word in words[1:]:
            if word.startswith("--") and word not in self.options:
                return f"there is no option {word}"
        return None

    def problem(self, code):
        """None if the code is a proof, a text if it should be one, "" if it is something else."""
        if code.startswith("flightdeck "):
            return self.command_problem(code.split()[1:])
        if "/" in code and " " not in code:
            return None if (self.repository / code).is_file() else f"there is no file {code}"
        if re.fullmatch(r"[A-Z][A-Za-z0-9]+", code):
            return None if code in self.suites else f"there is no test suite {code}"
        return ""


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def rows(text):
    """Yields (number of line, cells) of the tables of features."""
    is_inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("|"):
            is_inside = False
        elif cells(line) == COLUMNS:
            is_inside = True
        elif is_inside and not line.startswith("|---"):
            yield number, cells(line)


def row_problems(row, proofs):
    if len(row) != len(COLUMNS):
        return [f"{len(row)} cells but there are {len(COLUMNS)} columns; a | inside of a cell?"]
    feature, published, here, status, proof = row
    if status not in STATUSES:
        return [f"status {status} is none of {', '.join(STATUSES)}"]
    problems = [] if feature and published else ["feature or place of publication is missing"]
    if status not in HERE:
        return problems if here == NOTHING else [*problems, f"{status}, but it names {here}"]
    files = CODE.findall(here)
    if not files:
        problems.append("names no file")
    problems += [f"there is no file {file}" for file in files
                 if not (proofs.repository / file).is_file()]
    found = [proofs.problem(code) for code in CODE.findall(proof)]
    problems += [problem for problem in found if problem]
    if None not in found:
        problems.append("names no test, file of tests or command")
    return problems


def count_problems(text, all_rows):
    """The table of statuses against the rows."""
    for status in STATUSES:
        counted = sum(len(row) == len(COLUMNS) and row[3] == status for _, row in all_rows)
        said = re.search(rf"^\| {status} \|.*\| (\d+) \|$", text, re.MULTILINE)
        if said is None or int(said.group(1)) != counted:
            yield f"{counted} rows are {status}, the table of statuses has {said and said.group(1)}"


def main(arguments):
    repository = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    document = repository / "docs/fidelity.md"
    text = document.read_text(encoding="utf-8")
    proofs = Proofs(repository)
    all_rows = list(rows(text))
    findings = [f"docs/fidelity.md:{number}: {problem}"
                for number, row in all_rows for problem in row_problems(row, proofs)]
    findings += [f"docs/fidelity.md: {problem}" for problem in count_problems(text, all_rows)]
    if not all_rows:
        findings.append("docs/fidelity.md: no table with the columns " + ", ".join(COLUMNS))
    for finding in findings:
        print(finding)
    print(f"check_fidelity: {len(all_rows)} rows, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
