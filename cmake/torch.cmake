# SPDX-License-Identifier: MIT
# flightdeck_torch: LibTorch as the rest of the build sees it. Nothing else names Torch.
find_package(Torch 1.13 MODULE REQUIRED)
set_package_properties(Torch PROPERTIES TYPE REQUIRED PURPOSE "tensors and the autograd graph")
add_feature_info("LibTorch with CUDA" Torch_CUDA_FOUND "tensors on an NVIDIA GPU")

add_library(flightdeck_torch INTERFACE)
target_link_libraries(flightdeck_torch INTERFACE Torch::Torch)
target_compile_features(flightdeck_torch INTERFACE cxx_std_17)
set_target_properties(flightdeck_torch PROPERTIES EXPORT_NAME torch)
