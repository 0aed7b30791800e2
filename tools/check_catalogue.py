#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the page's copy of the catalogue of quantities is current, or writes it.

Usage: check_catalogue.py FLIGHTDECK [--write]
Compares web/src/wire/quantities.json with what `FLIGHTDECK list quantities --json` says: name,
summary, cost, and whether there are values per group. Exits 1 if they differ.
"""

import json
import subprocess
import sys
from pathlib import Path

FIELDS = ("name", "summary", "cost", "groups")
PLACE = "web/src/wire/quantities.json"


def catalogue(flightdeck):
    answer = subprocess.run([flightdeck, "list", "quantities", "--json"], check=True,
                            stdout=subprocess.PIPE, encoding="utf-8")
    quantities = [{field: quantity[field] for field in FIELDS}
                  for quantity in json.loads(answer.stdout)]
    quantities.sort(key=lambda quantity: quantity["name"])
    return json.dumps(quantities, indent=2, ensure_ascii=False) + "\n"


def main(arguments):
    write = "--write" in arguments
    binaries = [argument for argument in arguments if argument != "--write"]
    if len(binaries) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    path = Path(__file__).resolve().parent.parent / PLACE
    text = catalogue(binaries[0])
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return 0
    if write:
        path.write_text(text, encoding="utf-8")
        print(f"wrote {PLACE}")
        return 0
    print(f"{PLACE} is not what `flightdeck list quantities --json` says\n"
          f"  remedy: run tools/check_catalogue.py {binaries[0]} --write")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
