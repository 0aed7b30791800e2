# SPDX-License-Identifier: MIT
# The types of the wire, made of src/serve/wire.json: structs and their JSON for the server, interfaces and
# their readers for the page. CMake itself makes them, so that a build needs neither Python nor Node.js for it.

set(wire_cpp_string "std::string")
set(wire_cpp_integer "int64_t")
set(wire_cpp_number "double")
set(wire_cpp_boolean "bool")
set(wire_cpp_integers "std::vector<int64_t>")
set(wire_cpp_numbers "std::vector<double>")
set(wire_start_integer " = 0")
set(wire_start_number " = 0")
set(wire_start_boolean " = false")
set(wire_ts_string "string")
set(wire_ts_integer "number")
set(wire_ts_number "number")
set(wire_ts_boolean "boolean")
set(wire_ts_integers "Float64Array")
set(wire_ts_numbers "Float64Array")
set(wire_reader_string "text")
set(wire_reader_integer "integer")
set(wire_reader_number "number")
set(wire_reader_boolean "truth")
set(wire_reader_integers "column")
set(wire_reader_numbers "column")

# flightdeck_read_kind(kind): sets shape (scalar, choice, type, array or map), inner (what an array or a map is of, else the
# kind itself), and how the kind is called: cpp, ts and reader.
function(flightdeck_read_kind kind)
  set(inner "${kind}")
  if(kind MATCHES "^(.+)\\[\\]$")
    set(shape array)
    set(inner ${CMAKE_MATCH_1})
  elseif(kind MATCHES "^map<(.+)>$")
    set(shape map)
    set(inner ${CMAKE_MATCH_1})
  elseif(kind MATCHES "[|]")
    set(shape choice)
  elseif(DEFINED wire_cpp_${kind})
    set(shape scalar)
  else()
    set(shape type)
  endif()
  if(shape STREQUAL "choice")
    set(cpp "std::string")
    string(REPLACE "|" "' | '" ts "'${inner}'")
    string(REPLACE "|" "', '" reader "choice('${inner}')")
  elseif(DEFINED wire_cpp_${inner})
    set(cpp "${wire_cpp_${inner}}")
    set(ts "${wire_ts_${inner}}")
    set(reader "${wire_reader_${inner}}")
  else()
    set(cpp "${inner}")
    set(ts "${inner}")
    set(reader "read${inner}")
  endif()
  if(shape STREQUAL "array")
    set(cpp "std::vector<${cpp}>")
    string(APPEND ts "[]")
    set(reader "array(${reader})")
  elseif(shape STREQUAL "map")
    set(cpp "std::map<std::string, ${cpp}>")
    set(ts "Record<string, ${ts}>")
    set(reader "map(${reader})")
  endif()
  foreach(name shape inner cpp ts reader)
    set(${name} "${${name}}" PARENT_SCOPE)
  endforeach()
endfunction()

# flightdeck_wire_types(schema [CPP folder] [TYPESCRIPT file]): writes wire.h and wire.cpp into the folder, and the file.
function(flightdeck_wire_types schema)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CPP;TYPESCRIPT" "")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${schema})
  file(READ ${schema} json)
  string(JSON api GET "${json}" api)
  string(JSON types GET "${json}" types)
  string(JSON last_type LENGTH "${types}")
  math(EXPR last_type "${last_type} - 1")
  set(structs "")
  set(declarations "")
  set(writers "")
  set(definitions "")
  set(interfaces "")
  foreach(i RANGE ${last_type})
    string(JSON type GET "${types}" ${i})
    string(JSON name GET "${type}" name)
    string(JSON comment GET "${type}" comment)
    string(JSON fields GET "${type}" fields)
    string(JSON last_field LENGTH "${fields}")
    math(EXPR last_field "${last_field} - 1")
    set(members "")
    set(writes "")
    set(properties "")
    set(reads "")
    foreach(j RANGE ${last_field})
      string(JSON field GET "${fields}" ${j} 0)
      string(JSON kind GET "${fields}" ${j} 1)
      string(JSON remark GET "${fields}" ${j} 2)
      flightdeck_read_kind("${kind}")
      if(remark)
        string(APPEND properties "  /** ${remark} */\n")
      endif()
      string(APPEND properties "  ${field}: ${ts};\n")
      string(APPEND reads "    ${field}: ${reader}(fields['${field}'], `\${path}.${field}`),\n")

      if(shape STREQUAL "choice" AND remark)
        set(remark "${kind}; ${remark}")
      elseif(shape STREQUAL "choice")
        set(remark "${kind}")
      endif()
      if(remark)
        string(APPEND members "  // ${remark}\n")
      endif()
      string(APPEND members "  ${cpp} ${field}${wire_start_${kind}};\n")
      string(APPEND writes "  out.key(\"${field}\");\n")
      if(shape STREQUAL "type")
        string(APPEND writes "  write(out, value.${field});\n")
      elseif(shape STREQUAL "array" AND NOT DEFINED wire_cpp_${inner})
        string(APPEND writes "  out.begin_array();\n"
          "  for (const ${inner}& element : value.${field}) write(out, element);\n  out.end_array();\n")
      elseif(shape STREQUAL "map" AND NOT DEFINED wire_cpp_${inner})
        message(FATAL_ERROR "wire.json: ${name}.${field}: no way to write a ${kind} yet")
      else()
        string(APPEND writes "  out.value(value.${field});\n")
      endif()
    endforeach()
    string(APPEND structs "\n// ${comment}\nstruct ${name} {\n${members}};\n")
    string(APPEND declarations "std::string to_json(const ${name}& value);\n")
    string(APPEND writers "\nvoid write(record::JsonWriter& out, const ${name}& value) {\n"
      "  out.begin_object();\n${writes}  out.end_object();\n}\n")
    string(APPEND definitions "\nstd::string to_json(const ${name}& value) {\n"
      "  record::JsonWriter out;\n  write(out, value);\n  return out.take();\n}\n")
    string(APPEND interfaces "\n/** ${comment} */\nexport interface ${name} {\n${properties}}\n\n"
      "export function read${name}(json: unknown, path = '${name}'): ${name} {\n"
      "  const fields = fieldsOf(json, path);\n  return {\n${reads}  };\n}\n")
  endforeach()

  if(arg_CPP)
    file(CONFIGURE OUTPUT ${arg_CPP}/wire.h @ONLY CONTENT "// Made by cmake/wire_types.cmake of src/serve/wire.json.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace flightdeck::serve::wire {

constexpr int64_t kApi = ${api};
${structs}
${declarations}
}  // namespace flightdeck::serve::wire
")
    file(CONFIGURE OUTPUT ${arg_CPP}/wire.cpp @ONLY CONTENT "// Made by cmake/wire_types.cmake of src/serve/wire.json.
#include \"serve/wire.h\"

#include \"record/json_writer.h\"

namespace flightdeck::serve::wire {

namespace {
${writers}
}  // namespace
${definitions}
}  // namespace flightdeck::serve::wire
")
  endif()
  if(arg_TYPESCRIPT)
    file(CONFIGURE OUTPUT ${arg_TYPESCRIPT} @ONLY CONTENT "// SPDX-License-Identifier: MIT
// What the server and the report tell. Made by cmake/wire_types.cmake of src/serve/wire.json.
import {array, choice, column, fieldsOf, integer, map, number, text, truth} from './read';

export const API = ${api};
${interfaces}")
  endif()
endfunction()
