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
    <!-- snippet: test NAME -->             followed by the ctest NAME
    <!-- snippet: new PATH -->              adding_*.md: this file of the sources, written by the test adding_pages
    <!-- snippet: into PATH -->             adding_*.md: lines that the test adding_pages puts into this file
    <!-- snippet: with the entries -->      adding_*.md, sh: run by the test adding_pages, as is its output
    <!-- snippet: needs TOOL -->            left out where this program is not installed
    <!-- snippet: not run: REASON -->       the exception
"""

import re
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = ("cpp", "sh", "cmake", "python", "json", "text", "toml", "ts", "sql")
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
    "test": LANGUAGES,
    "new": LANGUAGES,
    "into": LANGUAGES,
    "with the entries": ("sh",),
    "needs": ("sh", "python"),
    "not run:": LANGUAGES,
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
        if (directive in ("file", "from", "test", "new", "into", "needs", "not run:")) != bool(argument):
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


def name_of(page):
    """README.md -> readme, docs/cockpit.md -> cockpit."""
    return Path(page).stem.lower()


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
            body.append("{\n")
            for offset, line in enumerate(block.code.splitlines()):
                if INCLUDE.match(line):
                    includes.append(f'#line {block.line + offset} "{page}"\n{line}\n')
                else:
                    body.append(f'#line {block.line + offset} "{page}"\n{line}\n')
        body.append("}" * len(parts) + "\n")
        functions.append(f"struct Page_{name} : docs::Setting {{\nvoid run() {{\n{''.join(body)}}}\n}};\n")
        table.append(f'{{"{name}", [] {{ Page_{name}().run(); }}}},\n')
    return ("// Written by tests/docs/write_program.py from the pages.\n"
            '#include "docs/setting.h"\n' + "".join(includes) +
            "namespace {\n" + "".join(functions) + "}  // namespace\n"
            "const std::map<std::string, void (*)()>& docs::pages() {\n"
            "static const std::map<std::string, void (*)()> all{\n" + "".join(table) + "};\n"
            "return all;\n}\n")
