// SPDX-License-Identifier: MIT
#include "suite/data_check.h"

#include <vector>

#include <c10/util/Exception.h>
#include <zlib.h>

#include "src/base/limits.h"
#include "src/base/plain_file.h"
#include "suite/data/source.h"
#include "suite/formats/sha256.h"

namespace flightdeck::suite {
namespace {

// Reads plain and compressed files alike. What cannot be read has 0 bytes; a packed file that goes
// on beyond the size of all data sets is read no further.
FileCheck check_file(const std::string& path, const FileFact& fact) {
  FileCheck check;
  check.path = path;
  check.expected_bytes = fact.bytes;
  check.has_known_hash = !fact.sha256.empty();
  Sha256 hash;
  std::vector<char> buffer(1 << 18);
  gzFile file = odd_file(path).empty() ? gzopen(path.c_str(), "rb") : nullptr;
  if (file != nullptr) {
    int count;
    while (check.bytes <= limits::kMatBytes &&
           (count = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
      check.bytes += count;
      if (check.has_known_hash) hash.add(buffer.data(), static_cast<size_t>(count));
    }
    gzclose(file);
  }
  if (check.has_known_hash) check.sha256 = hash.hex();
  check.is_good = check.bytes == fact.bytes && check.sha256 == fact.sha256;
  return check;
}

std::string fault_of(const FileCheck& check, const FileFact& fact) {
  if (check.bytes != fact.bytes) {
    return check.path + " has " + std::to_string(check.bytes) +
           " bytes but the published file has " + std::to_string(fact.bytes);
  }
  return check.path + " has the SHA-256 " + check.sha256 + " but the published file has " +
         fact.sha256;
}

void check_count(const char* part, int64_t found, int64_t published, DataCheck& check) {
  if (published == 0 || found == published) return;
  check.faults.push_back(check.description.folder + " has " + std::to_string(found) +
                         " samples for " + part + " but the published set has " +
                         std::to_string(published));
}

}  // namespace

DataCheck check_data(const std::string& name, const std::string& folder) {
  const DataSource& source = find_data_source(name);
  DataCheck check;
  check.description = describe_data(name, folder);
  if (!check.description.needs_files) return check;
  if (!check.description.is_found) {
    check.faults.push_back(name + " is not in any of the folders that are searched");
    return check;
  }
  for (const FileFact& fact : source.facts) {
    check.files.push_back(check_file(file_in(check.description.folder, fact.name), fact));
    if (!check.files.back().is_good) check.faults.push_back(fault_of(check.files.back(), fact));
  }
  try {
    const Parts parts = source.read(check.description.folder);
    check.train_samples = parts.train.size() + parts.valid.size();
    check.test_samples = parts.test.size();
    check_count("training", check.train_samples, source.train_samples, check);
    check_count("testing", check.test_samples, source.test_samples, check);
  } catch (const c10::Error& error) {
    check.faults.push_back(error.what_without_backtrace());
  } catch (const std::exception& error) {
    check.faults.push_back(error.what());
  }
  return check;
}

}  // namespace flightdeck::suite
