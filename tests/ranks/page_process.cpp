// SPDX-License-Identifier: MIT
// The C++ of docs/distributed.md in two processes that meet over Gloo: page_process STORE. The page
// gives group and cockpit; a loop that adds up its gradients, as the page asks, follows. Exit
// status 0 if both ranks were seen.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>

#include <torch/torch.h>

#include "page_process_includes.inc"
#include <flightdeck/flightdeck.h>

namespace {

int train(const std::string& store_path, int rank, int size) {
  torch::manual_seed(0);
  torch::nn::Sequential model(torch::nn::Linear(6, 5), torch::nn::ReLU(), torch::nn::Linear(5, 3));
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  // A group of Gloo's is a ProcessGroup in LibTorch 1.13 and a Backend from 2 on.
  using Base = std::conditional_t<std::is_base_of_v<c10d::ProcessGroup, c10d::ProcessGroupGloo>,
                                  c10d::ProcessGroup,
                                  c10d::Backend>;
#include "page_process_body.inc"
  const auto memory = std::make_shared<flightdeck::MemorySink>();
  cockpit.add_sink(memory);
  torch::manual_seed(1 + rank);  // each its own samples
  for (int64_t step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    const torch::Tensor outputs = torch::log_softmax(model->forward(torch::randn({8, 6})), 1);
    const torch::Tensor losses = -outputs.select(1, step);
    {
      const auto watch = cockpit.watch(step, losses);
      losses.mean().backward();
    }
    for (const torch::Tensor& parameter : model->parameters()) {
      std::vector<torch::Tensor> gradients = {parameter.grad()};
      group->allreduce(gradients)->wait();
      parameter.mutable_grad() /= size;
    }
    optimizer.step();
  }
  cockpit.flush();
  if (rank != 0) return 0;
  for (const char* name : {"loss", "grad_norm", "hess_trace"}) {
    if (memory->find(2, name) == nullptr) {
      std::fprintf(stderr, "page_process: there is no %s of step 2\n", name);
      return 1;
    }
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  std::remove(words[1]);
  const pid_t other = fork();  // before anything of LibTorch has a thread
  if (other < 0) return 1;
  torch::set_num_threads(1);
  int failures = 0;
  try {
    failures = train(words[1], other == 0 ? 1 : 0, 2);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "page_process: %s\n", error.what());
    failures = 1;
  }
  if (other == 0) std::_Exit(failures);
  int status = 0;
  waitpid(other, &status, 0);
  return failures == 0 && status == 0 ? 0 : 1;
}
