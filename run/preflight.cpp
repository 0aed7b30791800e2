// SPDX-License-Identifier: MIT
#include "run/preflight.h"

#include <filesystem>
#include <unistd.h>

#include <c10/util/Exception.h>

#include "flightdeck/cockpit.h"
#include "run/fault_bench.h"
#include "run/random_states.h"

namespace flightdeck::run {
namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "flightdeck-preflight-XXXXXX").string();
    TORCH_CHECK(mkdtemp(name.data()) != nullptr,
                "preflight: cannot make a folder in ",
                std::filesystem::temp_directory_path().string(),
                "; free some space there");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string run() const { return path_ + "/run"; }

 private:
  std::string path_;
};

}  // namespace

PreflightResult preflight(const TrainingOptions& options, int64_t batches) {
  TORCH_CHECK_VALUE(
      batches >= 1, "preflight: batches is ", batches, " but must be at least 1; look at three");
  const auto random = random_states(options.device);
  const TemporaryFolder folder;
  PreflightResult result;
  {
    Training training(options);
    std::vector<Quantity> quantities;
    for (const std::string& name : quantities_of_lamps()) quantities.push_back(quantity(name));
    CockpitOptions watching;
    watching.on_warning = [](const std::string&) {};
    watching.seed = options.seed;
    Cockpit cockpit(training.parameters(), std::move(quantities), watching);
    cockpit.record_to(folder.run());
    while (result.batches < batches) {
      training.step(&cockpit);
      ++result.batches;
    }
    cockpit.finish(Ending::kInterrupted);
  }
  set_random_states(random, options.device);
  result.diagnosis = diagnose(RunReader(folder.run()));
  return result;
}

}  // namespace flightdeck::run
