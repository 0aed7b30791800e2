# SPDX-License-Identifier: MIT
"""Times a plain training loop and a watched one in turn, as ``flightdeck bench overhead`` does in C++."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from typing import Any, Callable, Dict, List, Optional

import torch

from .. import _engine
from ..cockpit import Cockpit
from ..quantities import preset
from .problems import PROBLEMS, Training


def take_steps(training: Training, cockpit: Optional[Cockpit], count: int) -> None:
    for _ in range(count):
        losses, loss = training.forward()
        if cockpit is None:
            loss.backward()
        else:
            with cockpit.watch(training.step, losses, training.optimizer):
                loss.backward()
        training.optimizer.step()
        training.step += 1


def milliseconds(device: torch.device, work: Callable[[], None]) -> float:
    """What the work takes, the device's queue included."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    start = time.perf_counter()
    work()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return (time.perf_counter() - start) * 1e3


class Overhead:
    """One problem and one preset."""

    def __init__(self, options: argparse.Namespace, problem: str, name: str) -> None:
        self._options = options
        self._problem, self._device = problem, torch.device(options.device)
        self._batch = options.batch or PROBLEMS[problem].batch_size
        self._preset = name

    def _training(self) -> Training:
        return Training(self._problem, self._batch, self._device)

    def _cockpit(self, training: Training) -> Cockpit:
        # Strict: a quantity that is switched off would look cheap.
        return Cockpit(training.model, preset(self._preset, self._options.interval), strict=True)

    def measure(self) -> Dict[str, Any]:
        """Medians over blocks of one interval; both loops see the same batches."""
        plain, watched = self._training(), self._training()
        cockpit, interval = self._cockpit(watched), self._options.interval
        times: List[List[float]] = [[], []]
        turns = (lambda: take_steps(plain, None, interval), lambda: take_steps(watched, cockpit, interval))
        for block in range(-self._options.warm_up, self._options.repeats):
            for which in (0, 1) if block % 2 == 0 else (1, 0):
                taken = milliseconds(self._device, turns[which]) / interval
                if block >= 0:
                    times[which].append(taken)
        ratios = [watched / plain for plain, watched in zip(*times)]
        return {
            "plain_ms": statistics.median(times[0]),
            "ms": statistics.median(times[1]),
            "ratio": statistics.median(ratios),
            "peak_mb": self._extra_peak(),
        }

    def _extra_peak(self) -> Optional[float]:
        """Of two tracked steps and the step that completes the second, beyond those without a cockpit."""
        peaks: List[Optional[int]] = []
        for is_watched in (False, True):
            training = self._training()

            def steps() -> None:
                cockpit = self._cockpit(training) if is_watched else None
                take_steps(training, cockpit, self._options.interval + 2)

            peaks.append(_engine.peak_bytes(self._device, steps))
        without, under = peaks
        return None if without is None or under is None else (under - without) / 1e6


def of_tool(options: argparse.Namespace, problem: str, name: str) -> Dict[str, Any]:
    """What ``flightdeck bench overhead`` measures of the same, in a process of its own."""
    words = ["--problem", problem, "--preset", name, "--interval", options.interval, "--threads", torch.get_num_threads()]
    words += ["--device", options.device, "--repeats", options.repeats, "--warm-up", options.warm_up]
    words += ["--batch", options.batch] if options.batch else []
    command = [sys.executable, "-m", "flightdeck", "bench", "overhead", "--synthetic", "--json", *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    line: Dict[str, Any] = json.loads(done.stdout)
    return {key: line[key] for key in ("plain_ms", "ms", "ratio", "peak_mb")}


def agrees(mine: Dict[str, Any], tools: Dict[str, Any]) -> bool:
    """True if a watched step takes as much longer than a plain one as in C++, within 10 % and 0.2 ms for Python itself."""
    expected = float(tools["ratio"] * mine["plain_ms"])
    return bool(abs(mine["ms"] - expected) <= 0.1 * expected + 0.2)


def row(name: str, timing: Dict[str, Any], remark: str = "") -> str:
    peak = "-" if timing["peak_mb"] is None else f"{timing['peak_mb']:+.1f}"
    return f"  {name:22} {timing['plain_ms']:10.3f} {timing['ms']:10.3f} {timing['ratio']:8.2f} {peak:>10}{remark}"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--problem", nargs="+", choices=sorted(PROBLEMS), default=["mnist_mlp"])
    parser.add_argument(
        "--preset", nargs="+", default=["economy"],
        help="one or more of economy, business, full and diagnosis; default economy",
    )
    parser.add_argument("--interval", type=int, default=1, help="steps between tracked steps")
    parser.add_argument("--batch", type=int, default=0, help="samples; default the problem's own")
    parser.add_argument("--threads", type=int, default=0, help="CPU threads; default one per core")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=15, help="timed blocks")
    parser.add_argument("--warm-up", type=int, default=3, help="blocks before those")
    parser.add_argument(
        "--beside-tool", action="store_true",
        help="measure the same in C++ by the command flightdeck; the status is 1 if a ratio is another one",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")


def run(options: argparse.Namespace) -> int:
    """Returns the exit status."""
    _engine.prepare_process(options.threads)
    status = 0
    for problem in options.problem:
        batch = options.batch or PROBLEMS[problem].batch_size
        if not options.json:
            print(
                f"{problem} on {options.device}, batch {batch}, {torch.get_num_threads()} threads, "
                f"{_engine.blas_description()}, generated data, every {options.interval}"
            )
            print(f"  {'quantity':22} {'plain ms':>10} {'ms':>10} {'ratio':>8} {'peak MB':>10}")
        for name in options.preset:
            timing = Overhead(options, problem, name).measure()
            tools = of_tool(options, problem, name) if options.beside_tool else None
            is_same = tools is None or agrees(timing, tools)
            status = status if is_same else 1
            if options.json:
                print(json.dumps({
                    "bench": "overhead", "problem": problem, "device": options.device, "batch": batch,
                    "threads": torch.get_num_threads(), "blas": _engine.blas_description(), "quantity": "all",
                    "preset": name, "interval": options.interval, "data": "generated", **timing,
                    **({} if tools is None else {"tool": tools, "agrees": is_same}),
                }), flush=True)
                continue
            print(row(name, timing), flush=True)
            if tools is not None:
                print(row(f"{name} in C++", tools, "" if is_same else "  differs"), flush=True)
    return status
