// SPDX-License-Identifier: MIT
// Answers about individual gradients, of all ranks' samples together. What every rank has of its
// own samples is added up or put side by side, as the answer declares (rows/answer.h); what refers
// to the mean is moved from the rank's mean to that of all.
#pragma once

#include <exception>
#include <map>
#include <vector>

#include "cockpit/crew_packet.h"
#include "cockpit/plan.h"
#include "flightdeck/gradients.h"
#include "rows/answer.h"

namespace flightdeck {

// Tells how the samples of a step lie over the ranks.
struct CrewSizes {
  std::vector<int64_t> of_ranks;  // [W]
  int64_t rank = 0;

  int64_t own() const { return of_ranks[static_cast<size_t>(rank)]; }
  int64_t all() const;
  int64_t before() const;  // samples of the ranks before this one
};

class JointGradients {
 public:
  // Returns what has to be asked of the rank's own pass beside `asked`.
  static Needs needed_for(Needs asked, bool brings_rows);
  static bool keeps_rows(Needs asked);

  // `own` is null on a rank without; `arrived` are the gradients that reached its parameters,
  // divided by the weight of the losses. Both must outlive this.
  JointGradients(const Parameters& parameters,
                 const Plan& layout,
                 const Gradients* own,
                 const std::vector<Tensor>& arrived,
                 int64_t samples);

  void add_sums(Packet& packet);
  // Takes the sizes after the exchange; the size of the rest follows from them.
  void agree(const CrewSizes& sizes, bool brings_rows);
  void take_sums(const Packet& packet);
  void add_rest(Packet& packet);
  // Lets this rank give nothing to the rest from here on; the rest keeps its size.
  void give_nothing();
  Gradients take_rest(const Packet& packet);

  // Tells why this rank's numbers are NaN, if they are.
  std::exception_ptr failure() const { return failure_; }

 private:
  struct Places {
    std::map<const TensorAnswer*, size_t> answers;
    std::vector<size_t> histograms, joint_histograms;
    size_t arrived = 0, rows = 0;
  };
  struct OfParameter {
    Places places;
    Tensor mean;      // of all, [d]
    MeanShift shift;  // from the rank's own mean to that
  };

  bool asks(Need need) const { return asked_.has(need); }
  const ParameterGradients* own(size_t p) const { return own_ ? &own_->parameters[p] : nullptr; }
  Tensor weighted(size_t p, Tensor ParameterGradients::*field) const;
  Tensor of_samples(size_t p, Tensor ParameterGradients::*field) const;
  void find_shift(size_t p, const Tensor& mean_of_all);
  void find_products();
  Tensor moved(const TensorAnswer& answer, size_t p) const;
  void add_counts(Packet& packet, size_t p);
  void take_counts(const Packet& packet, size_t p);
  void take_samples(const Packet& packet, size_t p);
  void add_up();

  const Parameters& parameters_;
  const Plan& layout_;
  Needs asked_;
  std::vector<const TensorAnswer*> early_, late_;  // for the first exchange, for the second
  const Gradients* own_;
  const std::vector<Tensor>& arrived_;
  int64_t samples_;
  CrewSizes sizes_;
  bool brings_rows_ = false;
  std::vector<OfParameter> of_;
  std::vector<bool> is_missing_;
  size_t missing_ = 0, dots_ = 0;
  Gradients result_;
  std::exception_ptr failure_;
};

}  // namespace flightdeck
