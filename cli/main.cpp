// SPDX-License-Identifier: MIT
#include "flightdeck/tool.h"

int main(int argc, char** argv) { return flightdeck::tool_main(argc, argv); }
