// SPDX-License-Identifier: MIT
// The most that is taken from bytes of others: files, databases, requests. Writers hold to the same
// numbers. docs/wire_format.md lists them; tools/check_limits.py compares the two.
#pragma once

#include <cstdint>

namespace flightdeck::limits {

// ---- a record -----------------------------------------------------------------------------------

constexpr int64_t kEntryBytes = int64_t{1} << 26;     // payload of an entry of the journal
constexpr int64_t kEntryReadings = int64_t{1} << 18;  // readings of an entry
// This limits the counts of all histograms of an entry, unpacked.
constexpr int64_t kEntryNumbers = int64_t{1} << 24;
constexpr int64_t kAxes = 2;                  // of a histogram
constexpr int64_t kBins = int64_t{1} << 20;   // of a histogram
constexpr int64_t kNameBytes = 4096;          // of a quantity, field or group
constexpr int64_t kNames = int64_t{1} << 18;  // parameters, groups, quantities, settings: of each
constexpr int64_t kDimensions = 64;           // of a parameter
constexpr int64_t kSeries = int64_t{1} << 18;
constexpr int64_t kGenerations = int64_t{1} << 40;  // numbers of files of the journal
constexpr int64_t kTailBytes = int64_t{1} << 30;    // values that only the journal has, in memory
constexpr int64_t kReadNumbers = int64_t{1} << 27;  // of lists and histograms that a call returns
constexpr int64_t kCellBytes = int64_t{1} << 26;    // a text or blob of the database
constexpr int64_t kRowBytes = 4;                    // a row of a table takes at least so many
constexpr int64_t kReadSeconds = 60;                // of a reader's call without a result
constexpr int64_t kLabelsBytes = int64_t{1} << 16;  // of labels.txt
constexpr int64_t kTags = 64;                       // of a run
constexpr int64_t kTagBytes = 64;
constexpr int64_t kNoteBytes = 2000;  // a request with one fits into an address

// ---- the server ---------------------------------------------------------------------------------

constexpr int64_t kLookSeconds = 2;      // at one run, to list it
constexpr int64_t kAnswerSeconds = 10;   // of reading for one answer
constexpr int64_t kAnswerSeries = 5000;  // named by a request
constexpr int64_t kPoints = 20000;       // of a series
constexpr int64_t kAnswerPoints = 500000;
constexpr int64_t kFrames = 500;  // of a series
constexpr int64_t kAnswerFrames = 5000;
constexpr int64_t kAnswerNumbers = 4000000;  // of all frames
constexpr int64_t kFolderDepth = 8;          // of runs below the served folder

// ---- data sets and studies ----------------------------------------------------------------------

constexpr int64_t kIdxBytes = int64_t{1} << 30;        // unpacked
constexpr int64_t kCifarBytes = int64_t{1} << 30;      // of a file
constexpr int64_t kMatBytes = int64_t{1} << 31;        // of an array, unpacked
constexpr int64_t kJpegBytes = int64_t{1} << 28;       // of a file
constexpr int64_t kJpegPixels = int64_t{1} << 27;      // of an image
constexpr int64_t kJpegScans = 100;                    // of a progressive image
constexpr int64_t kTextBytes = int64_t{1} << 28;       // of a text to learn
constexpr int64_t kStudyFileBytes = int64_t{1} << 30;  // plans, outcomes, packed baselines
constexpr int64_t kStudyLineBytes = int64_t{1} << 24;  // of one run
constexpr int64_t kDuePoints = 1000000;                // among the due steps of a quantity
constexpr int64_t kJsonDepth = 32;                     // of nesting

}  // namespace flightdeck::limits
