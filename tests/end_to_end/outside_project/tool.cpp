// SPDX-License-Identifier: MIT
// A complete command-line tool that is somebody else's program.
#include <flightdeck/tool.h>

int main(int argc, char** argv) { return flightdeck::tool_main(argc, argv); }
