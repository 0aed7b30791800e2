// SPDX-License-Identifier: MIT
static_assert(__cplusplus / 100 == EXPECTED_STANDARD / 100, "another standard of C++ was chosen");
