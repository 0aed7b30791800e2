#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Follows the pages docs/adding_*.md to the letter, all of them in one copy of the sources.

follow.py prepare --source S --work W     puts what the pages say into W/tree; writes W/entries.cpp and W/tests.cpp,
                                          which include all new sources and tests, and the lists of all catalogues;
                                          W/answers.cpp has what is compiled with the headers of the copy, and not run
follow.py check --source S --work W --flightdeck F --program P... [--node N]
                                          after these were compiled: runs the pages' commands with the tool F that has
                                          the entries, and the programs P, which check them

A page says what to do with a block on the line above it (tests/docs/snippets.py):

    new PATH               the block is this file
    into PATH              the lines of the block go into this file: into the sorted list of a catalogue, else to its end
    into PATH below TEXT   ... below the first line that begins with TEXT
    into PATH above TEXT   ... above it
    with the entries       sh: run in the copy, with the tool that has the entries as `flightdeck`
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "docs"))
import snippets  # noqa: E402
from snippets_test import missing_line  # noqa: E402

TOPS = ("cli", "cmake", "docs", "include", "run", "src", "suite", "tests", "tools", "web")
LEFT_OUT = shutil.ignore_patterns("node_modules", "dist", "__pycache__", "golden", "images")
CATALOGUE = re.compile(r"(flightdeck_catalogue\(\w+ \w+\n)((?:  [a-z]\w*\n)*)")
PATIENCE_S = 300
# An answer adds a field to a public struct: it is compiled with what lists it, and with nothing else.
ANSWERS = "src/rows/answers/"
LISTS_ANSWERS = ["src/rows/answer.cpp", "src/passes/gradient_fields.cpp"]


class Failed(Exception):
    pass


# ---- putting it there ----------------------------------------------------------------------------


def copy_sources(source, tree):
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for top in TOPS:
        if (source / top).is_dir():
            shutil.copytree(source / top, tree / top, ignore=LEFT_OUT)
    shutil.copyfile(source / "README.md", tree / "README.md")
    packages = source / "web/node_modules"
    if packages.is_dir():
        (tree / "web/node_modules").symlink_to(packages)


def add_to_catalogue(text, lines):
    """Returns the text of a CMakeLists.txt with these words in the sorted list of its catalogue."""
    def sorted_with(match):
        words = match.group(2).split() + lines
        return match.group(1) + "".join(f"  {word}\n" for word in sorted(words))
    return CATALOGUE.sub(sorted_with, text, count=1)


def add_beside(text, lines, beginning, is_below, place):
    old = text.splitlines()
    for k, line in enumerate(old):
        if line.strip().startswith(beginning):
            if is_below:
                return "\n".join(old[:k + 1] + lines + old[k + 1:]) + "\n"
            return "\n".join(old[:k] + lines + [""] + old[k:]) + "\n"
    raise Failed(f"{place}: no line begins with '{beginning}'")


def put_into(tree, block):
    name, where, beginning = re.fullmatch(r"(\S+)(?: (below|above) (.*))?", block.argument).groups()
    path = tree / name
    if not path.is_file():
        raise Failed(f"{block.place}: there is no {name}")
    lines = block.code.splitlines()
    text = path.read_text(encoding="utf-8")
    if beginning:
        text = add_beside(text, lines, beginning, where == "below", block.place)
    elif path.name == "CMakeLists.txt":
        text = add_to_catalogue(text, [line.strip() for line in lines])
    else:
        text += "\n" + block.code
    path.write_text(text, encoding="utf-8")
    return name


def put_new(tree, block):
    path = tree / block.argument
    if path.exists():
        raise Failed(f"{block.place}: there is a {block.argument} already")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.code, encoding="utf-8")
    return block.argument


# ---- catalogues ----------------------------------------------------------------------------------


def catalogue_folders(tree):
    """The folders of all catalogues, without those that another one adds."""
    found = []
    for path in sorted(tree.rglob("CMakeLists.txt")):
        if "flightdeck_catalogue(" in path.read_text(encoding="utf-8") and "end_to_end" not in path.parts:
            folder = path.parent.relative_to(tree)
            if not any(other in folder.parents for other in found):
                found.append(folder)
    return [str(folder) for folder in found]


def read_catalogues(options, tree, folders, work):
    """Returns (exit status, errors) of reading the lists of these folders."""
    done = subprocess.run(
        [options.cmake, "-S", str(Path(__file__).resolve().parent), "-B", str(work), f"-DTREE={tree}",
         f"-DFOLDERS={';'.join(folders)}"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    return done.returncode, done.stderr


def follow(options, tree):
    """Follows all pages; returns the files that they make or change, in order."""
    touched = []
    for page, blocks in options.pages.items():
        words = [block for block in blocks if block.directive == "into" and block.argument.endswith("CMakeLists.txt")
                 and "/tests/" not in f"/{block.argument}"]
        for block in blocks:
            if block.directive == "new":
                touched.append(put_new(tree, block))
        for block in words:
            # Before its word is there, the file is refused by name.
            folder, file = str(Path(block.argument).parent), block.code.split()[0] + ".cpp"
            status, errors = read_catalogues(options, tree, [folder], options.work / "refused")
            if status == 0 or f"not in the catalogue: {file}" not in " ".join(errors.split()):
                raise Failed(f"{block.place}: {folder}/{file} was accepted without its word\n{errors}")
        for block in blocks:
            if block.directive == "into":
                touched.append(put_into(tree, block))
    return touched


def write_if_changed(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def including(tree, files):
    return "// Written by tests/end_to_end/adding/follow.py.\n" + "".join(
        f'#include "{tree / file}"\n' for file in dict.fromkeys(files))


def prepare(options):
    """Returns the texts of entries.cpp, tests.cpp and answers.cpp."""
    tree = options.work / "tree"
    copy_sources(options.source, tree)
    touched = [name for name in follow(options, tree) if name.endswith(".cpp")]
    status, errors = read_catalogues(options, tree, catalogue_folders(tree), options.work / "catalogues")
    if status != 0:
        raise Failed(errors)
    tests = [name for name in touched if name.startswith("tests/")]
    answers = [name for name in touched if name.startswith(ANSWERS)]
    entries = [name for name in touched if name not in tests + answers]
    return {"entries.cpp": including(tree, entries), "tests.cpp": including(tree, tests),
            "answers.cpp": including(tree, answers + LISTS_ANSWERS)}


# ---- what came of it -----------------------------------------------------------------------------


def run(what, command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, timeout=PATIENCE_S, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    if done.returncode != 0:
        raise Failed(f"{what}: exit status {done.returncode}\n{done.stdout[-60000:]}")
    return done.stdout


def run_page(blocks, tree, environment):
    output, count = None, 0
    for block in blocks:
        if block.directive == "with the entries":
            output = run(block.place, ["sh", "-e", "-c", block.code], tree, environment)
            count += 1
        elif block.directive == "output" and output is not None:
            line = missing_line(block.code, output)
            if line is not None:
                raise Failed(f"{block.place}: the output lacks the line\n  {line}\n--- it is\n{output}")
    # A panel is found by the tests of the page, which run below; an answer was compiled.
    if count == 0 and not any(block.argument.startswith(("web/", ANSWERS)) for block in blocks):
        raise Failed(f"{blocks[0].page}: shows no command that finds the entry")
    return count


def check(options):
    tree = options.work / "tree"
    home = options.work / "home"
    home.mkdir(exist_ok=True)
    environment = dict(os.environ, HOME=str(home), PYTHONDONTWRITEBYTECODE="1",
                       FLIGHTDECK_TOOL=str(options.flightdeck), PATH=f"{options.flightdeck.parent}:{os.environ['PATH']}")
    failures = 0

    def attempt(what, action):
        nonlocal failures
        try:
            print(f"{what}: {action()}", flush=True)
        except Failed as error:
            failures += 1
            print(f"FAILED {error}", flush=True)

    for page, blocks in options.pages.items():
        attempt(page, lambda blocks=blocks: f"{run_page(blocks, tree, environment)} commands")
    # What every entry owes, and now the dummies too.
    attempt("catalogues", lambda: run("catalogues", [
        sys.executable, "-B", str(tree / "tests/end_to_end/catalogues_test.py"), str(options.flightdeck)],
        tree, environment).splitlines()[-1])
    for program in options.program:
        attempt(program.name, lambda program=program: run(program.name, [str(program)], tree, environment)
                .strip().splitlines()[-1])
    if options.node:
        web = tree / "web"
        attempt("web types", lambda: run("web types", [options.node, "node_modules/typescript/bin/tsc", "--noEmit"],
                                         web, environment) or "accepted")
        attempt("web", lambda: run("web", [options.node, "test.mjs", "instruments_test"], web, environment)
                and "accepted")
        attempt("misnamed instrument", lambda: misnamed_instrument(options, web, environment))
    return failures


def misnamed_instrument(options, web, environment):
    (web / "src/instruments/my_instrument.ts").rename(web / "src/instruments/other_name.ts")
    try:
        run("web", [options.node, "test.mjs", "instruments_test"], web, environment)
    except Failed as error:
        if "FAILED: every instrument is named as its file" in str(error):
            return "refused"
        raise
    finally:
        (web / "src/instruments/other_name.ts").rename(web / "src/instruments/my_instrument.ts")
    raise Failed("web: a file that is not named as its instrument was accepted")


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=["prepare", "check"])
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--flightdeck", type=Path)
    parser.add_argument("--program", type=Path, action="append", default=[])
    parser.add_argument("--node")
    options = parser.parse_args(arguments)
    options.pages = {str(path.relative_to(options.source)): snippets.blocks_of(options.source, path)
                     for path in sorted((options.source / "docs").glob("adding_*.md"))}
    try:
        texts = prepare(options)
        if options.step == "prepare":
            for name, text in texts.items():
                write_if_changed(options.work / name, text)
            return 0
        if any((options.work / name).read_text(encoding="utf-8") != text for name, text in texts.items()):
            raise Failed("the pages have changed since their entries were compiled; build again")
        return 1 if check(options) else 0
    except Failed as error:
        print(f"FAILED {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
