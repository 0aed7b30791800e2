// SPDX-License-Identifier: MIT
// What the page looks like.
import './cases/overlap';
import './cases/look';
