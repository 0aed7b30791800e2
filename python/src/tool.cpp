// SPDX-License-Identifier: MIT
// The command-line tool for the console script.
#include "flightdeck/tool.h"

#include <cerrno>

#include "bind.h"

namespace flightdeck::python {

void bind_tool(py::module_& module) {
  module.def(
      "tool_main",
      [](std::vector<std::string> words, const std::optional<std::string>& program) {
        // Messages and help name the program as the C library does.
        static const std::string name = words.at(0);
        static std::string invocation = name;
        program_invocation_name = invocation.data();
        program_invocation_short_name = invocation.data() + (invocation.rfind('/') + 1);
        std::vector<char*> pointers;
        for (std::string& word : words) pointers.push_back(word.data());
        pointers.push_back(nullptr);
        return tool_main(
            static_cast<int>(words.size()), pointers.data(), program ? program->c_str() : nullptr);
      },
      py::arg("words"),
      py::arg("program") = std::nullopt,
      Unlocked());
}

}  // namespace flightdeck::python
