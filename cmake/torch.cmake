# SPDX-License-Identifier: MIT
# flightdeck_torch: LibTorch as the rest of the build sees it. Nothing else names Torch.
find_package(Torch 1.13 MODULE REQUIRED)
set_package_properties(Torch PROPERTIES TYPE REQUIRED PURPOSE "tensors and the autograd graph")
add_feature_info("LibTorch with CUDA" Torch_CUDA_FOUND "tensors on an NVIDIA GPU")

set(FLIGHTDECK_HAS_PROCESS_GROUPS FALSE)
if(EXISTS ${Torch_INCLUDE_DIR}/torch/csrc/distributed/c10d/ProcessGroup.hpp)
  set(FLIGHTDECK_HAS_PROCESS_GROUPS TRUE)
endif()
add_feature_info("LibTorch with process groups" FLIGHTDECK_HAS_PROCESS_GROUPS
  "cockpits over several processes in C++")

add_library(flightdeck_torch INTERFACE)
target_link_libraries(flightdeck_torch INTERFACE Torch::Torch)
target_compile_features(flightdeck_torch INTERFACE cxx_std_17)
set_target_properties(flightdeck_torch PROPERTIES EXPORT_NAME torch)

if(FLIGHTDECK_WITH_CUDA)
  if(NOT Torch_CUDA_FOUND)
    message(FATAL_ERROR "FLIGHTDECK_WITH_CUDA: the LibTorch in ${Torch_INCLUDE_DIR} has no CUDA; "
      "name one that has by CMAKE_PREFIX_PATH, or switch the option off")
  endif()
  # LibTorch's CUDA headers include the toolkit's.
  find_package(CUDAToolkit REQUIRED)
  target_link_libraries(flightdeck_torch INTERFACE $<BUILD_INTERFACE:CUDA::cudart>)
endif()
