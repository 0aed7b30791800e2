# SPDX-License-Identifier: MIT
"""The fenced blocks of the pages, and what a page says about each.

Every block names its language. What is done with it follows from that:

    cpp     part of the page's program: each block stands in a scope inside the block before it, all in a
            member function of `docs::Setting` (setting.h), which has the model, the data and the optimizer
    sh      run by `sh -e` in the page's scratch folder, with the built `flightdeck` on the PATH
    cmake   configured, after cmake_minimum_required() and project()
    python  run in the page's scratch folder
    json    parsed
    text    output, tables, pictures: nothing is run

A comment on the line above the fence says what differs:

    <!-- snippet: file NAME -->             written to NAME in the scratch folder, for the blocks that follow
    <!-- snippet: in the source folder -->  sh, run there
    <!-- snippet: until Ctrl-C -->          sh, goes on until it is interrupted
    <!-- snippet: output -->                text: the lines stand in the output of the sh block before it, or of
                                            the page's program, in this order; numbers may be others
    <!-- snippet: from PATH -->             quoted from a source file, which is compiled and tested as it is
    <!-- snippet: run by PATH -->           run by this test, which takes it out of the page by run_by(); or, where
                                            PATH is a shell script, each command of it is one of that script
    <!-- snippet: new PATH -->              adding_*.md: this file of the sources, written by the test adding_pages
    <!-- snippet: into PATH -->             adding_*.md: lines that the test adding_pages puts into this file
    <!-- snippet: with the entries -->      adding_*.md, sh: run by the test adding_pages, as is its output
    <!-- snippet: needs TOOL -->            left out where this program is not installed

A test that a block names has to run it. It asks run_by() for all blocks that name it, and runs them all; where each needs
something else, paired() refuses a block without a way to run it and a way without a block.
"""

import ast
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = ("cpp", "sh", "cmake", "python", "json", "text", "toml", "ts")
FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*(\S*)\s*$")
COMMENT = re.compile(r"^\s*<!-- snippet: (.*?) -->\s*$")
INCLUDE = re.compile(r"^\s*#\s*include\b")
# What a comment may say, and with which languages.
DIRECTIVES = {
    "file": LANGUAGES,
    "in the source folder": ("sh",),
    "until Ctrl-C": ("sh",),
    "output": ("text",),
    "from": ("cpp", "cmake", "sh", "python"),
    "run by": LANGUAGES,
    "new": LANGUAGES,
    "into": LANGUAGES,
    "with the entries": ("sh",),
    "needs": ("sh", "python"),
}


class BadPage(Exception):
    pass


@dataclass
class Block:
    page: str  # docs/cockpit.md
    line: int  # of its first line of code
    language: str
    code: str
    directive: str = ""  # a key of DIRECTIVES
    argument: str = ""  # what follows it

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    @property
    def in_program(self):
        return self.language == "cpp" and not self.directive


def pages(repository):
    """The README and every page of docs/, without the decisions."""
    return [repository / "README.md"] + sorted((repository / "docs").glob("*.md"))


def parse_comment(place, text, language):
    for directive, languages in DIRECTIVES.items():
        if text != directive and not text.startswith(directive + " "):
            continue
        argument = text[len(directive):].strip()
        if (directive in ("file", "from", "run by", "new", "into", "needs")) != bool(argument):
            raise BadPage(f"{place}: '{text}' lacks a word or has one too many")
        if language not in languages:
            raise BadPage(f"{place}: '{directive}' does not go with a block of {language}")
        return directive, argument
    raise BadPage(f"{place}: unknown comment '{text}'; tests/docs/snippets.py lists them")


def blocks(page, text):
    """Returns the blocks of one page, in order."""
    found = []
    fence = comment = None
    body = []
    for number, line in enumerate(text.splitlines(), start=1):
        match = FENCE.match(line)
        if fence is None and match:
            indent, mark, language = match.groups()
            place = f"{page}:{number}"
            if language not in LANGUAGES:
                raise BadPage(f"{place}: a block of '{language}'; name one of {', '.join(LANGUAGES)}")
            fence = (indent, mark, language, number)
            body = []
        elif fence and match and match.group(2) == fence[1] and not match.group(3):
            indent, _, language, start = fence
            said = parse_comment(f"{page}:{start}", comment, language) if comment else ("", "")
            code = "".join(part.removeprefix(indent) + "\n" for part in body)
            found.append(Block(page, start + 1, language, code, *said))
            fence = comment = None
        elif fence:
            body.append(line)
        elif COMMENT.match(line):
            if comment:
                raise BadPage(f"{page}:{number}: two comments about one block")
            comment = COMMENT.match(line).group(1)
        elif comment:
            raise BadPage(f"{page}:{number}: the comment '{comment}' is not on the line above a block")
    if fence or comment:
        raise BadPage(f"{page}: the last block or comment does not end")
    return found


def blocks_of(repository, path):
    return blocks(str(path.relative_to(repository)), path.read_text(encoding="utf-8"))


# ---- blocks that another test runs ---------------------------------------------------------------


def run_by(repository, test):
    """The blocks that name this test, by page. `test` is its __file__."""
    repository = Path(repository).resolve()
    name = str(Path(test).resolve().relative_to(repository))
    found = {}
    for path in pages(repository):
        for block in blocks_of(repository, path):
            if block.directive == "run by" and block.argument == name:
                found.setdefault(block.page, []).append(block)
    if not found:
        raise BadPage(f"{name}: no block of a page names it")
    return found


def paired(found, ways):
    """Returns (block, way) for every block of run_by(); `ways` has a list for each page, in order."""
    if list(found) != list(ways):
        raise BadPage(f"blocks stand on {', '.join(found)}; there are ways to run those of {', '.join(ways)}")
    for page, blocks in found.items():
        if len(blocks) != len(ways[page]):
            raise BadPage(f"{page} has {len(blocks)} blocks; there are ways to run {len(ways[page])}")
    return [pair for page, blocks in found.items() for pair in zip(blocks, ways[page])]


def replaced(block, stand_ins):
    """The code of a block with each key of `stand_ins` replaced by its value; a key that is not there is refused."""
    code = block.code
    for text, stand_in in stand_ins.items():
        if text not in code:
            raise BadPage(f"{block.place}: has no '{text}', for which '{stand_in}' is to stand")
        code = code.replace(text, stand_in)
    return code


def commands(text):
    """The words of each command of a shell text of plain commands, one to a line."""
    lines = text.replace("\\\n", " ").splitlines()
    return [words for words in (shlex.split(line, comments=True) for line in lines) if words]


def takes_its_blocks(path, text):
    """Whether a test reads its blocks from the pages: by run_by(..., __file__), or what write_program.py writes."""
    if path.suffix == ".cpp":
        return f'#include "{path.stem}_body.inc"' in text
    return any(isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "run_by" and
               any(isinstance(word, ast.Name) and word.id == "__file__" for word in node.args)
               for node in ast.walk(ast.parse(text)))


def is_started(repository, name):
    """Whether a test of this path is one: pytest's, or named by the lists of tests."""
    if re.fullmatch(r"python/tests/test_\w+\.py", name):
        return True
    lists = [*(repository / "tests").rglob("CMakeLists.txt"), *(repository / "tests").rglob("*.cmake")]
    return any(Path(name).name in path.read_text(encoding="utf-8") for path in lists)


def runner_problem(repository, block):
    """Why the test that a block names does not run it; None if it does."""
    path = repository / block.argument
    if not path.is_file():
        return f"there is no {block.argument}"
    text = path.read_text(encoding="utf-8")
    if path.suffix not in (".py", ".cpp"):
        script = commands(text)
        for words in commands(block.code):
            if not any(words == line[-len(words):] for line in script):
                return f"{block.argument} does not run '{' '.join(words)}'"
        return None
    if not takes_its_blocks(path, text):
        return f"{block.argument} does not take its blocks from the pages"
    if not is_started(repository, block.argument):
        return f"{block.argument} is no test: nothing starts it"
    return None


def name_of(page):
    """README.md -> readme, docs/cockpit.md -> cockpit."""
    return Path(page).stem.lower()


def split_includes(block, code):
    """Returns (#include lines, other lines) of a block of C++, each with the place where it stands."""
    includes, body = [], []
    for offset, line in enumerate(code.splitlines()):
        lines = includes if INCLUDE.match(line) else body
        lines.append(f'#line {block.line + offset} "{block.page}"\n{line}\n')
    return includes, body


def program(all_blocks):
    """The C++ of all pages as one source file: a function for each page that has some."""
    includes, functions, table = [], [], []
    by_page = {}
    for block in all_blocks:
        if block.in_program:
            by_page.setdefault(block.page, []).append(block)
    for page, parts in by_page.items():
        name = name_of(page)
        body = []
        for block in parts:
            first, rest = split_includes(block, block.code)
            includes += first
            body += ["{\n", *rest]
        body.append("}" * len(parts) + "\n")
        functions.append(f"struct Page_{name} : docs::Setting {{\nvoid run() {{\n{''.join(body)}}}\n}};\n")
        table.append(f'{{"{name}", [] {{ Page_{name}().run(); }}}},\n')
    return ("// Written by tests/docs/write_program.py from the pages.\n"
            '#include "docs/setting.h"\n' + "".join(includes) +
            "namespace {\n" + "".join(functions) + "}  // namespace\n"
            "const std::map<std::string, void (*)()>& docs::pages() {\n"
            "static const std::map<std::string, void (*)()> all{\n" + "".join(table) + "};\n"
            "return all;\n}\n")
