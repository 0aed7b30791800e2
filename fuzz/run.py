#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the fuzzers with clang, replays their corpora and looks for inputs that break them.

Usage: run.py [--build FOLDER] [--seconds S] [--jobs N] [--only-build] [NAME ...]
Prints one line per target. Exits 1 if an input broke one; the input lies where the line says: give
it a name, put it into fuzz/corpus/NAME and mend the reader. What else is found stays in the build
folder and is where the next search begins.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
# An input that takes longer, or more memory, has broken its target.
LIMITS = ["-timeout=20", "-rss_limit_mb=3072", "-malloc_limit_mb=4096", "-max_len=4096"]


def build(folder, names, jobs):
    """Builds all targets, or those named; returns the names that there are."""
    clang = os.environ.get("FLIGHTDECK_CLANG") or shutil.which("clang++")
    if clang is None:
        print("skipped: clang++ was not found (clang libclang-rt-14-dev)")
        sys.exit(0)
    configure = ["cmake", "-S", str(HERE), "-B", str(folder), f"-DCMAKE_CXX_COMPILER={clang}"]
    if shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    if shutil.which("ccache"):
        configure += ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
    if not (folder / "CMakeCache.txt").exists():
        subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", str(folder), "--parallel", str(jobs),
                    *(["--target", *names] if names else [])],
                   check=True, stdout=subprocess.DEVNULL)
    there = sorted(path.stem for path in (HERE / "targets").glob("*.cpp")
                   if (folder / path.stem).exists())
    return [name for name in there if not names or name in names]


def number(pattern, text):
    """The last number that the pattern finds in what a fuzzer printed."""
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def search(folder, name, seconds):
    """Replays the corpus, then searches on from it; returns the target's line and whether it is good."""
    found, broken = folder / "found" / name, folder / "broken" / name
    for place in (found, broken):
        place.mkdir(parents=True, exist_ok=True)
    seeds = HERE / "corpus" / name
    # Leaks inside LibTorch are not ours; ours would be found by asan's own tests.
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1",
                       OMP_NUM_THREADS="1")
    common = [str(folder / name), *LIMITS, f"-artifact_prefix={broken}/"]
    corpus = [str(place) for place in (found, seeds) if place.is_dir()]
    # The whole corpus is replayed first, however little time there is.
    limit = f"-max_total_time={seconds}" if seconds > 0 else "-runs=0"
    runs = subprocess.run([*common, limit, "-print_final_stats=1", *corpus], env=environment, capture_output=True,
                          text=True, errors="replace", check=False)
    said = runs.stderr
    line = (f"{name:14} {number(r'number_of_executed_units: +([0-9]+)', said) or number(r'#([0-9]+)', said):>10} runs"
            f" {number(r'cov: ([0-9]+)', said):>6} edges {number(r'ft: ([0-9]+)', said):>6} features"
            f" {number(r'corp: ([0-9]+)', said):>5} inputs")
    if runs.returncode == 0:
        return line, True
    trace = "\n".join(said.splitlines()[-40:])
    return f"{line}\n{trace}\n{name}: BROKEN by an input in {broken}", False


def main():
    parser = argparse.ArgumentParser(description="Fuzz what reads bytes of others.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="default all")
    parser.add_argument("--build", type=Path, default=HERE.parent / "build" / "fuzz")
    parser.add_argument("--seconds", type=int, default=60, help="for each target; 0 replays alone")
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time")
    parser.add_argument("--only-build", action="store_true", help="look for nothing")
    arguments = parser.parse_args()
    there = sorted(path.stem for path in (HERE / "targets").glob("*.cpp"))
    for name in arguments.names:
        if name not in there:
            parser.error(f"there is no target {name}; there are {', '.join(there)}")
    folder = arguments.build.resolve()
    names = build(folder, arguments.names, arguments.jobs)
    if arguments.only_build:
        return
    is_good = True
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for line, good in pool.map(lambda name: search(folder, name, arguments.seconds), names):
            print(line, flush=True)
            is_good = is_good and good
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
