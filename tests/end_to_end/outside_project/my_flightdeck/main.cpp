// SPDX-License-Identifier: MIT
// A complete `flightdeck` that knows the entries of the other files.
#include <flightdeck/tool.h>

int main(int argc, char** argv) { return flightdeck::tool_main(argc, argv); }
