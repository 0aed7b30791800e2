// SPDX-License-Identifier: MIT
// Ranks of a process group. This file alone knows LibTorch's distributed headers and how they
// differ: up to 1.13 a group is what moves the data, since 2.0 it has a backend that does.
#include <utility>

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "flightdeck/ranks.h"

namespace flightdeck {
namespace {

template <typename Group>
class OfGroup final : public Ranks {
 public:
  OfGroup(c10::intrusive_ptr<Group> group, at::Device device)
      : group_(std::move(group)), device_(device) {}

  int64_t size() const override { return group_->getSize(); }
  int64_t rank() const override { return group_->getRank(); }
  at::Device device() const override { return device_; }
  Tensor sum(const Tensor& own) override { return reduced(own, c10d::ReduceOp::SUM); }
  Tensor max(const Tensor& own) override { return reduced(own, c10d::ReduceOp::MAX); }
  Tensor min(const Tensor& own) override { return reduced(own, c10d::ReduceOp::MIN); }
  Tensor gather(const Tensor& own) override {
    std::vector<Tensor> inputs = {own.contiguous()};
    std::vector<std::vector<Tensor>> outputs(1);
    for (int64_t k = 0; k < size(); ++k) outputs[0].push_back(at::empty_like(inputs[0]));
    group_->allgather(outputs, inputs)->wait();
    return at::stack(outputs[0]);
  }

 private:
  Tensor reduced(const Tensor& own, c10d::ReduceOp::RedOpType operation) {
    std::vector<Tensor> tensors = {own.detach().clone(at::MemoryFormat::Contiguous)};
    c10d::AllreduceOptions options;
    options.reduceOp = operation;
    group_->allreduce(tensors, options)->wait();
    return tensors[0];
  }

  c10::intrusive_ptr<Group> group_;
  at::Device device_;
};

template <typename Group>
std::shared_ptr<Ranks> of(const c10::intrusive_ptr<Group>& group, at::Device device) {
  TORCH_CHECK_VALUE(group, "ranks_of: the group is null; give one that exists");
  return std::make_shared<OfGroup<Group>>(group, device);
}

}  // namespace

std::shared_ptr<Ranks> ranks_of(const c10::intrusive_ptr<c10d::ProcessGroup>& group,
                                at::Device device) {
  return of(group, device);
}

std::shared_ptr<Ranks> ranks_of(const c10::intrusive_ptr<c10d::Backend>& backend,
                                at::Device device) {
  return of(backend, device);
}

}  // namespace flightdeck
