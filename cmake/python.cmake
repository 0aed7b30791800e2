# SPDX-License-Identifier: MIT
# The Python that the package is for. Its PyTorch is the one to compile against: FindTorch looks
# there first.
if(NOT FLIGHTDECK_BUILD_PYTHON)
  return()
endif()
find_package(Python 3.8 REQUIRED COMPONENTS Interpreter Development.Module)

# Everything ends up in one module.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

execute_process(
  COMMAND ${Python_EXECUTABLE} -c
    "import os, torch; print(os.path.dirname(os.path.realpath(torch.__file__)))"
  OUTPUT_VARIABLE Torch_ROOT
  OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET)
if(NOT Torch_ROOT)
  message(FATAL_ERROR "python: ${Python_EXECUTABLE} cannot import torch; install PyTorch first, and "
    "let pip see it: pip install . --no-build-isolation")
endif()
