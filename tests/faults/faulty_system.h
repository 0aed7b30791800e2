// SPDX-License-Identifier: MIT
// A system that fails on demand: calls of the C library that write stand in front of the real ones
// and fail, or end the process, where a text says so. Linked to a test, or preloaded into a program
// that takes the text from FLIGHTDECK_FAULTS.
#pragma once

// clang-format off
// Begins anew with other faults; null or "" is a system that works. Ends the process on a word
// that is no fault. The words, with blanks between them:
//
//   under=PATH       where calls fail: this file, or those in this folder
//   match=TEXT       of these, those with TEXT in their path are counted by the next two
//   CALL@K=ERROR     the K-th CALL fails with ENOSPC, EDQUOT, EIO, EACCES or EROFS, or dies: kill
//   CALL@K+=ERROR    and so do all later ones
//   full=BYTES       a disk that takes so many more bytes, then ENOSPC for ever
//   readonly         nothing is made, written, renamed or removed: EROFS
//   clock=SECONDS@K  the wall clock jumps by so much at its K-th reading
//   orphan           who asks to be told of its parent's death kills it before
//   trace=FILE       a line "CALL BYTES PATH" is appended for each counted call
//
// CALL is open (for writing), write, sync, close (of a file open for writing), rename or unlink.
extern "C" void flightdeck_set_faults(const char* text);
// clang-format on
