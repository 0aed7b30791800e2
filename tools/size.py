#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports files and functions over the guideline sizes. Never fails: the sizes guide, they do not bind.

Usage: size.py [REPOSITORY]
Prints every file over its guideline and every function over 60 lines with its length, the longest first.
"""

import ast
import re
import sys
from collections import namedtuple
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import project  # noqa: E402

FILE_LINES = [
    ("src/rules/ops/", 80),
    ("src/quantities/", 120),
    ("", 400),
]
FUNCTION_LINES = 60
FOLDERS = ("include", "src", "cli", "run", "study", "suite", "examples", "tests", "bench", "tools")
SUFFIXES = {".h", ".cpp", ".cu", ".py"}

Function = namedtuple("Function", "name line length")

# What is no code: comments, texts, characters, preprocessor lines with their continuations. A digit
# in front of an apostrophe makes it a separator of thousands.
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^()\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"'
                     r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
                     re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r"(?:^|\s)(namespace|extern)\b")
TYPE = re.compile(r"(?:^|[\s>])(class|struct|union|enum)\b")
NAME = re.compile(r"((?:\w+::)*operator\s*[^\s(]+|(?:\w+::)*operator\(\)|~?[A-Za-z_][\w:~]*)\s*\(")


def code_of(text):
    """Returns the text with blanks in the place of everything that is no code; lines stay."""
    return NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def outside_of_parentheses(text):
    depth, kept = 0, []
    for character in text:
        depth -= character == ")"
        if depth == 0 and character not in "()":
            kept.append(character)
        depth += character == "("
    return "".join(kept)


def kind_of(head):
    """Returns what a brace opens after `head`, the text since the last statement: "scope" for a
    namespace or a type, "function", or "list" for the values of a variable."""
    outside = outside_of_parentheses(head)
    if SCOPE.search(outside) or (TYPE.search(outside) and "=" not in outside and "(" not in head):
        return "scope"
    is_inside_of_parentheses = head.count("(") != head.count(")")
    if not head[-1:].isspace() or "(" not in head or is_inside_of_parentheses:
        return "list"
    return "list" if re.search(r"(?<!operator)(?<![=!<>])=(?!=)", outside) else "function"


def functions_of_cpp(text):
    """Yields the functions with a body: of namespaces and of types, lambdas left out."""
    opened, head, line, head_line = [], "", 1, 1
    for character in code_of(text):
        if character == "{":
            within = opened[-1][0] if opened else "scope"
            kind = kind_of(head) if within == "scope" else "block" if within != "list" else "list"
            name = NAME.search(head)
            opened.append((kind, head_line, name.group(1) if name else "?"))
            head = head if kind == "list" else ""
        elif character == "}" and opened:
            kind, start, name = opened.pop()
            if kind == "function":
                yield Function(name, start, line - start + 1)
            head = head if kind == "list" else ""  # "Type() : member_{1} {" goes on
        elif character == ";" or (character == ":" and head.strip() in ("public", "protected", "private")):
            head = ""
        elif head or not character.isspace():
            head_line = head_line if head else line
            head += character
        line += character == "\n"


def functions_of_python(text):
    """Yields functions and methods."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Function(node.name, node.lineno, node.end_lineno - node.lineno + 1)


def functions_of(path, text):
    return functions_of_python(text) if path.endswith(".py") else functions_of_cpp(text)


def file_limit(path):
    return next(limit for prefix, limit in FILE_LINES if path.startswith(prefix))


def main(arguments):
    repository = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    count, functions, long_files, long_functions = 0, 0, [], []
    for file in project.files(repository, FOLDERS):
        if file.suffix not in SUFFIXES:
            continue
        path = file.relative_to(repository).as_posix()
        text = file.read_text(encoding="utf-8")
        count += 1
        lines = text.count("\n")
        if lines > file_limit(path):
            long_files.append(f"{path}: {lines} lines, guideline {file_limit(path)}")
        for function in functions_of(path, text):
            functions += 1
            if function.length > FUNCTION_LINES:
                long_functions.append((function.length, path, function))
    for finding in long_files:
        print(finding)
    for length, path, function in sorted(long_functions, key=lambda found: (-found[0], found[1])):
        print(f"{path}:{function.line}: {function.name} has {length} lines, guideline {FUNCTION_LINES}")
    print(f"size: {len(long_files)} of {count} files and {len(long_functions)} of {functions} functions"
          f" over the guideline")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
