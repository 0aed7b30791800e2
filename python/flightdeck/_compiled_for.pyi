# SPDX-License-Identifier: MIT
# Written by the build.
TORCH_VERSION: str
