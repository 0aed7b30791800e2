#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every block of the README and of every page in docs/, as snippets.py says.

Usage: snippets_test.py FLIGHTDECK --repository FOLDER --program DOCS_SNIPPETS --source PROGRAM.cpp
                        --work FOLDER [--prefix-path PATH] [--launcher CCACHE] [--flags FLAGS]
                        [--page NAME ...]
"""

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "cli")]
import loaded_tool  # noqa: E402
import snippets  # noqa: E402
from page_folder import Failed, PageFolder  # noqa: E402

NUMBER = re.compile(r"-?\binf\b|-?\bnan\b|[-+]?\d[\d.,:]*(?:e[-+]?\d+)?", re.IGNORECASE)
DRAWING = re.compile(r"[\u2580-\u259f\u2588x]{2,}|[\u2580-\u259f]|\u2026")


def words(line):
    """What has to agree of a line of output: not its numbers, charts and blanks."""
    return NUMBER.sub("#", DRAWING.sub("", line)).split()


def missing_line(expected, output):
    """Returns the first line of `expected` that `output` does not have, in order; None if it has all."""
    rest = iter(output.splitlines())
    for line in expected.splitlines():
        if not line.strip():
            continue
        wanted = words(line)
        if not any(words(other) == wanted for other in rest):
            return line
    return None


def inline_commands(text):
    """Yields (line, words) of every `flightdeck COMMAND ...` in the prose of a page."""
    in_block = False
    for number, line in enumerate(text.splitlines(), start=1):
        if snippets.FENCE.match(line):
            in_block = not in_block
        elif not in_block:
            for code in re.findall(r"`(?:build/)?flightdeck ([^`]+)`", line):
                yield number, code.split()


def check_inline_commands(flightdeck, repository, paths):
    """Commands in running text are not run, but command and options have to exist. Returns count and findings."""
    helps, findings, count = {}, [], 0

    def help_of(*command):
        if command not in helps:
            done = loaded_tool.run([flightdeck, *command, "--help"], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, encoding="utf-8")
            helps[command] = done.stdout if done.returncode == 0 else ""
        return helps[command]

    for path in paths:
        for number, (command, *rest) in inline_commands(path.read_text(encoding="utf-8")):
            if command.startswith("-") or not re.fullmatch("[a-z]+", command):
                continue
            count += 1
            place = f"{path.relative_to(repository)}:{number}"
            text = help_of(command)
            if "SUBCOMMAND" in text and rest:
                text = help_of(command, rest[0])
            if not text:
                findings.append(f"{place}: there is no command 'flightdeck {command}'")
            for option in (word.partition("=")[0] for word in rest if word.startswith("--")):
                if text and not re.search(rf"{re.escape(option)}\b", text):
                    findings.append(f"{place}: 'flightdeck {command}' has no option {option}")
    return count, findings


class PageRun(PageFolder):
    """Runs the blocks of one page in a folder of its own."""

    def __init__(self, options, page, blocks):
        super().__init__(options.work / snippets.name_of(page), options.flightdeck, options.repository)
        self.options, self.page, self.blocks = options, page, blocks
        self.counts = collections.Counter()
        self.left_out = []
        self.output = ""  # of the sh block before, or of the page's program
        self.program_output = ""
        if options.launcher:
            self.environment["CMAKE_CXX_COMPILER_LAUNCHER"] = options.launcher
            self.environment.setdefault("CCACHE_DIR", str(Path.home() / ".cache/ccache"))
        if options.flags:
            self.environment["CXXFLAGS"] = options.flags
        if options.prefix_path:
            self.environment["CMAKE_PREFIX_PATH"] = options.prefix_path

    def run(self):
        began = time.monotonic()
        for block in self.blocks:
            self.counts[self.handle(block)] += 1
        self.seconds = time.monotonic() - began

    def handle(self, block):
        """Runs a block, or does what its comment says instead; returns what was done, in a word or two."""
        if block.directive == "needs" and not shutil.which(block.argument):
            self.left_out.append(f"{block.place} ({block.language}): {block.argument} is not installed")
            return "left out for a missing program"
        if block.directive == "file":
            path = self.folder / block.argument
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, encoding="utf-8")
            return "files that other blocks use"
        if block.directive == "from":
            return self.compare_with_source(block)
        if block.directive in ("new", "into", "with the entries"):
            self.output = None  # the test adding_pages has it
            return "followed by another test"
        if block.directive == "run by":
            self.output = ""  # the other test's, so that no block can claim to be of it
            problem = snippets.runner_problem(self.options.repository, block)
            if problem:
                raise Failed(f"{block.place}: {problem}")
            return "run by another test"
        return getattr(self, "handle_" + block.language)(block)

    def compare_with_source(self, block):
        source = (self.options.repository / block.argument).read_text(encoding="utf-8")
        if " ".join(block.code.split()) not in " ".join(source.split()):
            raise Failed(f"{block.place}: {block.argument} does not have these lines")
        return "quoted from a source file"

    def handle_text(self, block):
        if block.directive != "output":
            return "text"
        if self.output is None:
            return "followed by another test"
        line = missing_line(block.code, self.output)
        if line is not None:
            raise Failed(f"{block.place}: the output lacks the line\n  {line}\n--- it is\n{self.output}")
        return "output compared"

    def handle_cpp(self, block):
        # The page's program holds all its blocks; it runs where the first of them stands.
        if block is next(other for other in self.blocks if other.in_program):
            self.program_output = self.execute(block, [str(self.options.program), snippets.name_of(self.page)])
        self.output = self.program_output
        return "C++ compiled and run"

    def handle_sh(self, block):
        folder = self.sources() if block.directive == "in the source folder" else self.folder
        command = ["sh", "-e", "-c", block.code]
        if block.directive == "until Ctrl-C":
            self.output = self.interrupt(block, command)
        else:
            self.output = self.execute(block, command, folder)
        return "sh run"

    def handle_python(self, block):
        self.execute(block, [sys.executable, "-B", "-c", block.code])
        return "python run"

    def handle_json(self, block):
        json.loads(block.code)
        return "json parsed"

    def handle_cmake(self, block):
        folder = self.folder / f"cmake-{block.line}"
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.24)\nproject(snippet LANGUAGES CXX)\n" + block.code,
            encoding="utf-8")
        self.execute(block, ["cmake", "-S", str(folder), "-B", str(folder / "build")])
        return "cmake configured"


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("flightdeck", type=Path)
    parser.add_argument("--repository", type=Path, required=True)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--prefix-path", default="")
    parser.add_argument("--launcher", default="")
    parser.add_argument("--flags", default="")
    parser.add_argument("--page", action="append", default=[])
    options = parser.parse_args(arguments)
    options.repository = options.repository.resolve()
    try:
        by_page = {str(path.relative_to(options.repository)): snippets.blocks_of(options.repository, path)
                   for path in snippets.pages(options.repository)}
    except snippets.BadPage as error:
        print(error)
        return 1
    all_blocks = [block for blocks in by_page.values() for block in blocks]
    if options.source.read_text(encoding="utf-8") != snippets.program(all_blocks):
        print("the pages have changed since their C++ was compiled; build again")
        return 1

    runs = [PageRun(options, page, blocks) for page, blocks in by_page.items()
            if not options.page or snippets.name_of(page) in options.page]
    # The longest first: those that compile something.
    runs.sort(key=lambda run: not any(block.argument == "CMakeLists.txt" for block in run.blocks))
    with ThreadPoolExecutor(max_workers=2) as workers:
        ends = [(run, workers.submit(run.run)) for run in runs]
        inline = workers.submit(check_inline_commands, options.flightdeck, options.repository,
                                snippets.pages(options.repository))
    counts = collections.Counter()
    named, findings = inline.result()
    for finding in findings:
        print(f"FAILED {finding}")
    failures = len(findings)
    for run, end in ends:
        counts.update(run.counts)
        try:
            end.result()
        except Failed as error:
            failures += 1
            print(f"FAILED {error}")
        else:
            print(f"{run.page}: {len(run.blocks)} blocks, {run.seconds:.1f} s")
    for run in runs:
        for line in run.left_out:
            print(f"left out: {line}")
    print(f"docs_snippets: {sum(counts.values())} blocks on {len(runs)} pages; " +
          ", ".join(f"{count} {what}" for what, count in sorted(counts.items())) +
          f"; {named} commands in running text exist")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
