# SPDX-License-Identifier: MIT
"""Prints how the zoo's individual gradients are obtained, as the table of docs/coverage.md.

Usage: python table.py
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

import torch

sys.path.insert(0, str(Path(__file__).parent))
from member import Member  # noqa: E402

import flightdeck  # noqa: E402

LEVELS = ["exact-fast", "exact-slow", "refused"]
FAMILIES = ["by_hand", "decoders", "mixtures", "state_space", "encoders", "vision", "several_senses"]


def members() -> Iterator[Tuple[str, Member]]:
    """All of them with their families; those that need transformers only where it is installed."""
    for family in FAMILIES:
        try:
            listed = importlib.import_module(family).MEMBERS
        except ImportError as error:
            if error.name != "transformers":
                raise
            continue
        for member in listed:
            yield family, member


def levels(member: Member) -> Tuple[Dict[str, int], List[str]]:
    """How many entries of parameters have each level, and why some are not fast."""
    model, inputs = member.build(torch.float64)
    sizes = {name: parameter.numel() for name, parameter in model.named_parameters()}
    report = flightdeck.coverage(member.losses(model, inputs), model)
    counts: Dict[str, int] = {}
    reasons: List[str] = []
    for entry in report.parameters:
        if entry.level == "unused":
            continue
        counts[entry.level] = counts.get(entry.level, 0) + sizes[entry.name]
        if entry.level != "exact-fast" and entry.reason not in reasons:
            reasons.append(entry.reason)
    return counts, reasons


def main() -> None:
    print("| model | entries | fast | slow | refused | why not fast |\n|---|--:|--:|--:|--:|---|")
    whole: Dict[str, int] = {}
    for _, member in members():
        counts, reasons = levels(member)
        total = sum(counts.values())
        shares = [f"{100 * counts.get(level, 0) / total:.1f} %" for level in LEVELS]
        print(f"| {member.name} | {total} | " + " | ".join(shares) + f" | {'; '.join(reasons)} |", flush=True)
        for level, count in counts.items():
            whole[level] = whole.get(level, 0) + count
    total = sum(whole.values())
    print(f"\n{100 * whole.get('exact-fast', 0) / total:.1f} % of all {total} entries are fast.")


if __name__ == "__main__":
    main()
