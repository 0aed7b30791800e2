#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the types of the wire format, in C++ and in TypeScript, of src/serve/wire.json.

Usage: wire_types.py [--check] [REPOSITORY]
Writes src/serve/wire.h, src/serve/wire.cpp and web/src/wire/types.ts; with --check it only says
which of them are not what it would write, and exits 1 if any is.
"""

import json
import re
import sys
from pathlib import Path

SCALARS = {
    "string": ("std::string", "string", "text"),
    "integer": ("int64_t", "number", "integer"),
    "number": ("double", "number", "number"),
    "boolean": ("bool", "boolean", "truth"),
    "integers": ("std::vector<int64_t>", "Float64Array", "column"),
    "numbers": ("std::vector<double>", "Float64Array", "column"),
}
DEFAULTS = {"integer": " = 0", "number": " = 0", "boolean": " = false"}


def parts_of(kind):
    """Returns ("array" | "map" | "choice" | "scalar" | "type", inner)."""
    if kind.endswith("[]"):
        return "array", kind[:-2]
    match = re.fullmatch(r"map<(.+)>", kind)
    if match:
        return "map", match.group(1)
    if "|" in kind:
        return "choice", kind
    return ("scalar" if kind in SCALARS else "type"), kind


def cpp_type(kind):
    shape, inner = parts_of(kind)
    if shape == "array":
        return f"std::vector<{cpp_type(inner)}>"
    if shape == "map":
        return f"std::map<std::string, {cpp_type(inner)}>"
    if shape == "choice":
        return "std::string"
    return SCALARS[inner][0] if shape == "scalar" else inner


def ts_type(kind):
    shape, inner = parts_of(kind)
    if shape == "array":
        return f"{ts_type(inner)}[]"
    if shape == "map":
        return f"Record<string, {ts_type(inner)}>"
    if shape == "choice":
        return " | ".join(f"'{word}'" for word in inner.split("|"))
    return SCALARS[inner][1] if shape == "scalar" else inner


def ts_reader(kind):
    """Returns the function that reads a value of this kind: (json, path) => value."""
    shape, inner = parts_of(kind)
    if shape == "array":
        return f"array({ts_reader(inner)})"
    if shape == "map":
        return f"map({ts_reader(inner)})"
    if shape == "choice":
        return "choice(" + ", ".join(f"'{word}'" for word in inner.split("|")) + ")"
    return SCALARS[inner][2] if shape == "scalar" else f"read{inner}"


def header(schema):
    lines = [
        "// SPDX-License-Identifier: MIT",
        "// What the server and the report tell the page. Made by tools/wire_types.py of wire.json.",
        "// clang-format off",
        "#pragma once",
        "",
        "#include <cstdint>",
        "#include <map>",
        "#include <string>",
        "#include <vector>",
        "",
        "namespace flightdeck::serve::wire {",
        "",
        f"constexpr int64_t kApi = {schema['api']};",
    ]
    for name, body in schema["types"].items():
        lines.append("")
        if body["comment"]:
            lines.append(f"// {body['comment']}")
        lines.append(f"struct {name} {{")
        for field, (kind, comment) in body["fields"].items():
            note = kind if parts_of(kind)[0] == "choice" else ""
            remark = "; ".join(text for text in (note, comment) if text)
            if remark:
                lines.append(f"  // {remark}")
            lines.append(f"  {cpp_type(kind)} {field}{DEFAULTS.get(kind, '')};")
        lines.append("};")
    lines.append("")
    for name in schema["types"]:
        lines.append(f"std::string to_json(const {name}& value);")
    lines += ["", "}  // namespace flightdeck::serve::wire", ""]
    return "\n".join(lines)


def source(schema):
    lines = [
        "// SPDX-License-Identifier: MIT",
        "// Made by tools/wire_types.py of wire.json.",
        "// clang-format off",
        '#include "serve/wire.h"',
        "",
        '#include "record/json_writer.h"',
        "",
        "namespace flightdeck::serve::wire {",
        "",
        "namespace {",
    ]
    for name, body in schema["types"].items():
        lines += ["", f"void write(record::JsonWriter& out, const {name}& value) {{", "  out.begin_object();"]
        for field, (kind, _) in body["fields"].items():
            lines.append(f'  out.key("{field}");')
            shape, inner = parts_of(kind)
            inner_shape = parts_of(inner)[0] if shape in ("array", "map") else ""
            if shape in ("scalar", "choice") or inner_shape == "scalar":
                lines.append(f"  out.value(value.{field});")
            elif shape == "type":
                lines.append(f"  write(out, value.{field});")
            elif shape == "array":
                lines += [
                    "  out.begin_array();",
                    f"  for (const {inner}& element : value.{field}) write(out, element);",
                    "  out.end_array();",
                ]
            else:
                raise SystemExit(f"wire_types: {name}.{field}: no way to write a {kind} yet")
        lines += ["  out.end_object();", "}"]
    lines += ["", "}  // namespace", ""]
    for name in schema["types"]:
        lines += [
            f"std::string to_json(const {name}& value) {{",
            "  record::JsonWriter out;",
            "  write(out, value);",
            "  return out.take();",
            "}",
            "",
        ]
    lines += ["}  // namespace flightdeck::serve::wire", ""]
    return "\n".join(lines)


def typescript(schema):
    lines = [
        "// SPDX-License-Identifier: MIT",
        "// What the server and the report tell. Made by tools/wire_types.py of src/serve/wire.json.",
        "import {array, choice, column, fieldsOf, integer, map, number, text, truth} from './read';",
        "",
        f"export const API = {schema['api']};",
    ]
    for name, body in schema["types"].items():
        lines.append("")
        if body["comment"]:
            lines.append(f"/** {body['comment']} */")
        lines.append(f"export interface {name} {{")
        for field, (kind, comment) in body["fields"].items():
            if comment:
                lines.append(f"  /** {comment} */")
            lines.append(f"  {field}: {ts_type(kind)};")
        lines += ["}", "", f"export function read{name}(json: unknown, path = '{name}'): {name} {{",
                  "  const fields = fieldsOf(json, path);", "  return {"]
        for field, (kind, _) in body["fields"].items():
            lines.append(f"    {field}: {ts_reader(kind)}(fields['{field}'], `${{path}}.{field}`),")
        lines += ["  };", "}"]
    return "\n".join(lines) + "\n"


def main(arguments):
    check = "--check" in arguments
    places = [argument for argument in arguments if argument != "--check"]
    repository = Path(places[0] if places else Path(__file__).parent.parent).resolve()
    schema = json.loads((repository / "src/serve/wire.json").read_text(encoding="utf-8"))
    stale = 0
    for place, text in (("src/serve/wire.h", header(schema)),
                        ("src/serve/wire.cpp", source(schema)),
                        ("web/src/wire/types.ts", typescript(schema))):
        path = repository / place
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        if check:
            print(f"{place} is not what wire.json says\n  remedy: run tools/wire_types.py")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {place}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
