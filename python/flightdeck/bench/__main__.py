# SPDX-License-Identifier: MIT
"""The commands of ``python -m flightdeck.bench``."""

import argparse

from . import overhead


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m flightdeck.bench", description=overhead.__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    overhead.add_options(commands.add_parser("overhead", help="a preset beside the training step"))
    raise SystemExit(overhead.run(parser.parse_args()))


if __name__ == "__main__":
    main()
