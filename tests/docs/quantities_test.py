#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that docs/quantities.md has a section for every quantity of the tool, and for nothing else.

Usage: quantities_test.py FLIGHTDECK [FAULTS]
A section has a formula, a picture that exists and is small, how to read it, and what it needs: its price, its
settings with their defaults, and whether it has values by group, as the tool says. With the built
examples/faults, all pictures are also drawn once, of runs of a few steps, and thrown away.
"""

import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent.parent / "docs/quantities.md"
MOST_BYTES = 15000  # of a picture
PARTS = ("Formula.", "How to read it.", "Needs and cost.")


def sections(text):
    """The text under each heading of the third level, by that heading."""
    parts = re.split(r"^(#{1,6}) +(.*)$", text, flags=re.MULTILINE)
    return {heading: body for mark, heading, body in zip(parts[1::3], parts[2::3], parts[3::3]) if mark == "###"}


def part_of(body, part):
    match = re.search(rf"^\*\*{re.escape(part)}\*\*\s+(.*?)(?=^\*\*|^!\[|\Z)", body,
                      flags=re.MULTILINE | re.DOTALL)
    return " ".join(match.group(1).split()) if match else ""


def picture_problem(name, body):
    link = f"images/quantities/{name}.svg"
    if f"]({link})" not in body:
        return f"does not show {link}"
    path = PAGE.parent / link
    if not path.is_file():
        return f"{link} is missing; draw it with tools/draw_quantities.py"
    if path.stat().st_size > MOST_BYTES:
        return f"{link} has {path.stat().st_size} bytes, more than {MOST_BYTES}"
    xml.etree.ElementTree.parse(path)
    return None


def problems_of(quantity, body):
    for part in PARTS:
        if len(part_of(body, part)) < 3:
            yield f"has no '**{part}**'"
    problem = picture_problem(quantity["name"], body)
    if problem:
        yield problem
    needs = part_of(body, "Needs and cost.")
    if not re.search(rf"; {quantity['cost']}\b", needs):
        yield f"does not say '; {quantity['cost']}', its price"
    by_group = "by group" in needs.lower()
    if by_group != quantity["groups"]:
        yield "says that it has values by group" if by_group else "does not say 'By group'"
    for setting in quantity["settings"]:
        if f"`{setting['name']}`" not in needs:
            yield f"does not name the setting {setting['name']}"
        stated = re.search(rf"`{setting['name']}` = (\S+?)[,.;]?(?: |$)", needs)
        if stated and not stated.group(1).startswith("`") and stated.group(1) != setting["default"]:
            yield f"says {setting['name']} = {stated.group(1)}, the tool says {setting['default']}"


def drawing_problems(faults, catalogue):
    draw = PAGE.parent.parent / "tools/draw_quantities.py"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-B", str(draw), faults, "--out", folder, "--steps", "7"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        if done.returncode != 0:
            yield f"tools/draw_quantities.py fails:\n{done.stdout}"
        elif {path.stem for path in Path(folder).glob("*.svg")} != set(catalogue):
            yield "tools/draw_quantities.py does not draw every quantity"


def main(arguments):
    answer = subprocess.run([arguments[0], "list", "quantities", "--json"], check=True,
                            stdout=subprocess.PIPE, encoding="utf-8")
    catalogue = {quantity["name"]: quantity for quantity in json.loads(answer.stdout)}
    found = sections(PAGE.read_text(encoding="utf-8"))
    findings = [f"{name}: there is no such quantity" for name in found if name not in catalogue]
    for name, quantity in catalogue.items():
        if name not in found:
            findings.append(f"{name}: has no section '### {name}'")
            continue
        findings += [f"{name}: {problem}" for problem in problems_of(quantity, found[name])]
    drawn = {path.stem for path in (PAGE.parent / "images/quantities").glob("*")}
    findings += [f"{name}: a picture of no quantity" for name in sorted(drawn - set(catalogue))]
    if len(arguments) > 1:
        findings += drawing_problems(arguments[1], catalogue)
    for finding in findings:
        print(f"docs/quantities.md: {finding}")
    print(f"docs_quantities: {len(catalogue)} quantities, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
