// SPDX-License-Identifier: MIT
#include "cli/bench/gpt2.h"

#include <ATen/ATen.h>

#include "graph/autocast_compat.h"
#include "suite/nets/gpt.h"
#include "suite/problem.h"

namespace flightdeck::cli {
namespace {

using at::Tensor;

constexpr int64_t kTokens = 50257;
constexpr int64_t kLength = 512;

// Sets matrix products on this device to bfloat16 while it lives.
class Autocast {
 public:
  explicit Autocast(const c10::Device& device) : device_(device) { set(true); }
  ~Autocast() {
    set(false);
    at::autocast::clear_cache();
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  void set(bool is_on) { compat::set_autocast(device_.type(), is_on, at::kBFloat16); }

  c10::Device device_;
};

// Makes as many tokens as the network reads, of the characters of a text.
Tensor tokens_of(const Tensor& characters) {
  const int64_t times = (kLength + characters.size(1) - 1) / characters.size(1);
  const Tensor repeated = characters.repeat({1, times}).slice(1, 0, kLength);
  const Tensor places = at::arange(kLength, characters.options());
  return (repeated * 601 + places * 7919).remainder(kTokens);
}

suite::Model build() {
  suite::Model model = suite::nets::gpt_of({kTokens, 1024, 768, 12, 12, 0.0, /*is_tied=*/true});
  model.forward = [forward = model.forward](const Tensor& characters) {
    const Autocast autocast(characters.device());
    return forward(tokens_of(characters)).to(at::kFloat);
  };
  return model;
}

}  // namespace

void add_gpt2() {
  static const bool is_added = [] {
    suite::Problem problem = suite::find_problem("tolstoi_gpt");
    problem.name = kGpt2;
    problem.summary = "a GPT of the size of GPT-2 small, 512 made-up tokens, bfloat16";
    problem.parameters = 124439808;
    problem.batch_size = 8;
    problem.classes = 0;
    problem.build = &build;
    problem.losses = [](const Tensor& outputs, const Tensor& targets) {
      return suite::cross_entropies(outputs, tokens_of(targets));
    };
    return suite::register_problem(std::move(problem));
  }();
  static_cast<void>(is_added);
}

}  // namespace flightdeck::cli
