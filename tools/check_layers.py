#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds every folder to the dependency rule of CONTRIBUTING.md by reading #include lines, and the
page's folders (web/src) by reading import lines. Names of autograd nodes stand in src/rules alone,
conditions on LibTorch's version in the headers of src/graph that are made for them.

Usage: check_layers.py [REPOSITORY]
Prints one finding per forbidden include, import or name and exits 1 if there is any.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import project  # noqa: E402

# What each layer may include, besides itself. The arrows of CONTRIBUTING.md read from the right.
DIRECT = {
    "base": [],
    "kernels": ["base"],
    "graph": ["base"],
    "rows": ["kernels"],
    "rules": ["rows", "graph"],
    "passes": ["rules"],
    "curvature": ["passes"],
    "spectra": ["base"],
    "ranks": [],
    "quantities": ["curvature", "spectra"],
    "cockpit": ["quantities"],
    "record": ["cockpit"],
    "lamps": ["record"],
    "serve": ["lamps"],
    "public": [],
    "run": ["public", "suite", "study"],
    "cli": ["serve", "run"],
    "python": ["cli"],
    "suite": ["public", "base"],
    "study": ["base", "public"],
    "examples": ["public", "suite", "run"],
}

# The same of the page's folders.
WEB_DIRECT = {
    "base": [],
    "wire": ["base"],
    "widgets": ["wire"],
    "store": ["wire"],
    "instruments": ["widgets"],
    "app": ["instruments", "store"],
}

# What instruments may import from above, as types only: the shape that they must have.
WEB_SHAPES = {"instruments": {"app/instrument"}}

# Layers that do without LibTorch, and so without the public headers that include it.
WITHOUT_TORCH = {"base", "kernels", "study"}

# Plain data that a layer may include from one beside it. They include the standard library alone.
PLAIN_HEADERS = {"suite/search.h": {"study"}}

# Free to include whatever they examine.
UNRESTRICTED = {"tests", "bench"}

SOURCE_SUFFIXES = {".h", ".cpp", ".cu", ".inc"}
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
TORCH = re.compile(r"(torch|ATen|c10)/")

# Who may know which ops there are: their rules, and the header of what differs between LibTorches.
KNOWS_NODES = ("src/rules/", "src/graph/torch_compat.h")
# A node by its class, or an op that is told apart by its word.
NODE = re.compile(r"""\b[A-Z][A-Za-z0-9]*Backward[0-9]+\b|(?:\.|->)op [=!]= "\w+\"""")
COMMENT = re.compile(r"//.*")
# What asks which LibTorch there is, and who may: the headers of what differs between them.
VERSION = re.compile(r"\s*#\s*(?:el)?if.*\bTORCH_VERSION_\w+")
KNOWS_VERSIONS = ("src/graph/torch_compat.h", "src/graph/autocast_compat.h")

WEB_SUFFIXES = {".ts", ".tsx"}
# `from` and its module may stand lines below the `import` they end.
IMPORT = re.compile(r"""^\s*(?:import|export)\b(?P<names>[^'"`;]*?)\bfrom\s*['"](?P<module>[^'"]+)['"]"""
                    r"""|^\s*import\s*['"](?P<bare>[^'"]+)['"]"""
                    r"""|\bimport\(\s*['"](?P<dynamic>[^'"]+)['"]""", re.MULTILINE)


def reachable(layer, direct=None):
    """Returns the layers that `layer` may include, itself left out."""
    direct = DIRECT if direct is None else direct
    found = []
    pending = list(direct[layer])
    while pending:
        below = pending.pop(0)
        if below not in found:
            found.append(below)
            pending += direct[below]
    return found


def allowed(layer):
    layers = reachable(layer)
    if layer in SRC_LAYERS and layer not in WITHOUT_TORCH and "public" not in layers:
        layers.append("public")
    return layers


SRC_LAYERS = [layer for layer in DIRECT if layer not in
              ("public", "run", "cli", "python", "suite", "study", "examples")]


def layer_of(path):
    """Returns the layer of a path relative to the repository, or None outside the layers."""
    parts = Path(path).parts
    if len(parts) < 2:
        return None
    if parts[0] == "src":
        return parts[1] if len(parts) > 2 else None
    if parts[0] == "include":
        return "public"
    if parts[0] in DIRECT or parts[0] in UNRESTRICTED:
        return parts[0]
    return None


def included_layer(repository, including, included):
    """Returns the layer that an include names, or None for the standard and other libraries."""
    beside = (repository / including).parent / included
    if beside.is_file():
        return layer_of(beside.resolve().relative_to(repository))
    # "src/base/words.h" is the same file as "base/words.h".
    included = included[4:] if included.startswith("src/") else included
    first = Path(included).parts[0]
    if first == "flightdeck":
        # flightdeck/<kind>.inc is written by the catalogue, for the layer that keeps it.
        return None if included.endswith(".inc") else "public"
    if "/" not in included:
        return None
    if first in SRC_LAYERS or first in DIRECT or first in UNRESTRICTED:
        return first
    return None


def needs_torch(repository, included, seen=()):
    """Returns whether a public header includes LibTorch, itself or by another public header."""
    header = repository / "include" / included
    if included in seen or not included.startswith("flightdeck/") or not header.is_file():
        return False
    for line in header.read_text(encoding="utf-8").splitlines():
        match = INCLUDE.match(line)
        if match and (TORCH.match(match[2]) or needs_torch(repository, match[2], (*seen, included))):
            return True
    return False


def findings_in(repository, path):
    """Yields the findings of one source file, `path` relative to the repository."""
    layer = layer_of(path)
    if layer is None or layer in UNRESTRICTED:
        return
    if layer not in DIRECT:
        yield (f"{path}:1: src/{layer} is not a layer\n"
               f"  remedy: move the file into a layer, or add {layer} to tools/check_layers.py and"
               f" CONTRIBUTING.md")
        return
    may_use = allowed(layer)
    text = (repository / path).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), start=1):
        named = NODE.search(COMMENT.sub("", line))
        if named and not path.as_posix().startswith(KNOWS_NODES):
            yield (f"{path}:{number}: {layer} may not name an autograd node ({named[0]})\n"
                   f"  remedy: ask its rule (rules/rule.h) or the node (rules/node_facts.h)")
        if VERSION.match(line) and path.as_posix() not in KNOWS_VERSIONS:
            yield (f"{path}:{number}: {layer} may not ask for the version of LibTorch\n"
                   f"  remedy: give what differs a name in src/graph/torch_compat.h and use that")
        match = INCLUDE.match(line)
        if not match:
            continue
        bracket, included = match.groups()
        if bracket == "<" and layer in WITHOUT_TORCH and TORCH.match(included):
            yield (f"{path}:{number}: {layer} may not include LibTorch (<{included}>)\n"
                   f"  remedy: take raw pointers and sizes, and unpack tensors one layer up")
            continue
        if layer in WITHOUT_TORCH and needs_torch(repository, included):
            yield (f'{path}:{number}: {layer} may not include LibTorch (by "{included}")\n'
                   f"  remedy: take raw pointers and sizes, and unpack tensors one layer up")
            continue
        other = included_layer(repository, path, included)
        if path.as_posix() in PLAIN_HEADERS and (other is not None or TORCH.match(included)):
            yield (f'{path}:{number}: a header of plain data includes the standard library alone ("{included}")\n'
                   f"  remedy: move what needs it into another header")
            continue
        if other is None or other == layer or other in may_use:
            continue
        if layer in PLAIN_HEADERS.get(included, ()):
            continue
        names = ", ".join(may_use) if may_use else "no other layer"
        yield (f'{path}:{number}: {layer} may not include {other} ("{included}")\n'
               f"  {layer} may use: {names}\n"
               f"  remedy: {remedy(layer, other)}")


def imported(path, module):
    """Returns the place in web/src that an import names, or None for a package."""
    if module == "instruments":
        return ("instruments", "all")
    if not module.startswith("."):
        return None
    parts = list(path.parent.parts)
    for word in module.split("/"):
        if word == "..":
            parts = parts[:-1]
        elif word != ".":
            parts.append(word)
    return tuple(parts[2:]) if parts[:2] == ["web", "src"] else ("outside",)


def web_findings_in(repository, path):
    """Yields the findings of one file of the page, `path` relative to the repository."""
    if len(path.parts) < 4:
        return
    layer = path.parts[2]
    if layer not in WEB_DIRECT:
        yield (f"{path}:1: web/src/{layer} is not a layer\n"
               f"  remedy: move the file into a layer, or add {layer} to tools/check_layers.py and"
               f" CONTRIBUTING.md")
        return
    may_use = reachable(layer, WEB_DIRECT)
    text = (repository / path).read_text(encoding="utf-8")
    for match in IMPORT.finditer(text):
        module = match["module"] or match["bare"] or match["dynamic"]
        place = imported(path, module)
        if place is None or place[0] == layer or place[0] in may_use:
            continue
        only_types = (match["names"] or "").split()[:1] == ["type"]
        if only_types and "/".join(place) in WEB_SHAPES.get(layer, ()):
            continue
        number = text.count("\n", 0, match.start("module") if match["module"] else match.start()) + 1
        names = ", ".join(may_use) if may_use else "no other layer"
        yield (f"{path}:{number}: {layer} may not import {'/'.join(place)} ('{module}')\n"
               f"  {layer} may use: {names}\n"
               f"  remedy: move what is needed into a layer that both may use")


def web_files(repository):
    for path in project.files(repository, ["web/src"]):
        if path.suffix in WEB_SUFFIXES:
            yield path.relative_to(repository)


def remedy(layer, other):
    if other in UNRESTRICTED:
        return f"move what {layer} needs out of {other}/"
    if layer == "public":
        return "keep the type out of the public header: forward-declare it, or make its header public"
    if layer in ("suite", "examples"):
        return f"use include/flightdeck; if it lacks something, add it there, not a path into {other}"
    if layer in reachable(other):
        return f"move what is needed down into {layer}, or the code that needs it up into {other}"
    return f"move what is needed into a layer that both {layer} and {other} may use"


def source_files(repository):
    tops = ("src", "include", *(name for name in DIRECT if name not in SRC_LAYERS))
    for path in project.files(repository, tops):
        if path.suffix in SOURCE_SUFFIXES:
            yield path.relative_to(repository)


def main(arguments):
    repository = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    files = list(source_files(repository))
    findings = [finding for path in files for finding in findings_in(repository, path)]
    pages = list(web_files(repository))
    findings += [finding for path in pages for finding in web_findings_in(repository, path)]
    for finding in findings:
        print(finding)
    print(f"check_layers: {len(files) + len(pages)} files, {len(findings)} forbidden includes, imports or names")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
