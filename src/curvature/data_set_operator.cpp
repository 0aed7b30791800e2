// SPDX-License-Identifier: MIT
#include "flightdeck/data_set_operator.h"

#include <algorithm>
#include <exception>
#include <sstream>
#include <utility>

#include <ATen/ATen.h>

#include "curvature/flat_parameters.h"
#include "curvature/kept_products.h"

namespace flightdeck {
namespace {

int64_t samples_in(const Batch& batch) {
  const auto& chosen = batch.options().samples;
  return chosen.empty() ? batch.size() : static_cast<int64_t>(chosen.size());
}

class DataSetOperator final : public CurvatureOperator {
 public:
  DataSetOperator(int64_t batches,
                  BatchSource source,
                  CurvatureKind kind,
                  const DataSetOptions& options)
      : source_(std::move(source)),
        kind_(kind),
        options_(options),
        counts_(checked(batches), -1),
        parameters_(new_batch(0).parameters()),
        flat_(parameters_) {
    // With ranks, a folder that is refused is told in the first product, where the others wait.
    if (!options_.ranks && keeps()) open_folders();
  }

  int64_t dim() const override { return flat_.dim(); }
  at::TensorOptions options() const override { return flat_.options(); }
  std::vector<Tensor> split(const Tensor& vectors) const override { return flat_.split(vectors); }
  Tensor join(const std::vector<Tensor>& parts) const override { return flat_.join(parts); }
  const std::vector<std::string>& remarks() const override { return remarks_; }

  Tensor multiply(const Tensor& vectors) const override {
    TORCH_CHECK_VALUE(vectors.dim() == 2 && vectors.size(1) == dim(),
                      "data set operator: vectors have shape ",
                      vectors.sizes(),
                      " but must be [V, D] with D = ",
                      dim(),
                      ", one line per vector; flatten and concatenate, or use join");
    const int64_t number = products_;
    std::optional<Tensor> found;
    if (keeps())
      found = options_.ranks ? product_of_first(vectors) : kept_->product(number, vectors);
    if (!found) {
      found = mean_over_batches(
          number, vectors, [&](const CurvatureOperator& part) { return part.multiply(vectors); });
    }
    ++products_;
    return found->to(options());
  }

  Tensor gradient() const override {
    const Tensor line = at::zeros({1, dim()}, options());
    return mean_over_batches(
               -1, line, [](const CurvatureOperator& part) { return part.gradient().unsqueeze(0); })
        .squeeze(0);
  }

 private:
  static int64_t checked(int64_t batches) {
    TORCH_CHECK_VALUE(
        batches > 0, "data set operator: ", batches, " batches asked for; give at least one");
    return batches;
  }

  int64_t count() const { return static_cast<int64_t>(counts_.size()); }

  // Makes the batch of a new forward pass and checks that it is the batch of before.
  Batch new_batch(int64_t k) const {
    const at::AutoGradMode with_graph(true);
    Batch batch = source_(k);
    const int64_t samples = samples_in(batch);
    TORCH_CHECK_VALUE(counts_[k] < 0 || counts_[k] == samples,
                      "data set operator: batch ",
                      k,
                      " has ",
                      samples,
                      " samples and had ",
                      counts_[k],
                      " before; give the same samples for the same k");
    counts_[k] = samples;
    return batch;
  }

  void check_parameters(int64_t k, const Parameters& given) const {
    bool are_same = given.size() == parameters_.size();
    for (size_t p = 0; are_same && p < parameters_.size(); ++p) {
      are_same = given[p].tensor.is_same(parameters_[p].tensor);
    }
    TORCH_CHECK_VALUE(are_same,
                      "data set operator: batch ",
                      k,
                      " is asked about ",
                      given.size(),
                      " parameters that are not the ",
                      parameters_.size(),
                      " of batch 0; hand over the same tensors in the same order");
  }

  // ---- which batches are this rank's ----

  int64_t W() const { return options_.ranks ? options_.ranks->size() : 1; }
  int64_t rank() const { return options_.ranks ? options_.ranks->rank() : 0; }
  int64_t own_count() const { return (count() - rank() + W() - 1) / W(); }

  // ---- what is kept ----

  bool keeps() const { return !options_.folder.empty(); }

  // Opens the folders of finished products, on the first rank, and of sums within them.
  void open_folders() const {
    if (kept_partials_) return;
    std::string own = options_.folder;
    if (W() > 1) own += "/rank_" + std::to_string(rank()) + "_of_" + std::to_string(W());
    if (rank() == 0) kept_.emplace(options_.folder, description());
    kept_partials_.emplace(own, description());
  }

  // Returns the finished product if the first rank has it. What fails is told in the sum that
  // follows.
  std::optional<Tensor> product_of_first(const Tensor& vectors) const {
    const auto doubles = at::TensorOptions(at::kDouble).device(options_.ranks->device());
    Tensor found;
    try {
      open_folders();
      if (const auto there = rank() == 0 ? kept_->product(products_, vectors) : std::nullopt) {
        found = there->to(doubles);
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
    const Tensor has = at::full({1}, found.defined() ? 1.0 : 0.0, doubles);
    if (options_.ranks->sum(has).item<double>() == 0) return {};
    return options_.ranks->sum(found.defined() ? found : at::zeros(vectors.sizes(), doubles));
  }

  // ---- products ----

  // Weights batches by their samples. Number -1 stands for no product: nothing of it is kept.
  template <typename Ask>
  Tensor mean_over_batches(int64_t number, const Tensor& vectors, const Ask& ask) const {
    const bool is_kept = keeps() && number >= 0;
    if (!options_.ranks) {
      const Tensor mean = mean_of(sum_over_batches(number, vectors, ask)).to(options());
      if (is_kept) kept_->keep(number, vectors, mean);
      return mean;
    }
    const Tensor mean = mean_of(sum_over_ranks(number, vectors, ask)).to(options());
    if (!is_kept) return mean;
    kept_partials_->forget_partial(number);
    if (rank() > 0) return mean;
    try {
      kept_->keep(number, vectors, mean);
    } catch (...) {
      failure_ = std::current_exception();  // the others go on: told in the next product
    }
    return mean;
  }

  Tensor mean_of(const KeptProducts::Partial& all) const {
    return all.sum / static_cast<double>(all.samples);
  }

  // Adds up in one collective, in which a rank that failed takes part.
  template <typename Ask>
  KeptProducts::Partial sum_over_ranks(int64_t number,
                                       const Tensor& vectors,
                                       const Ask& ask) const {
    const auto doubles = at::TensorOptions(at::kDouble).device(options_.ranks->device());
    Tensor packed = at::zeros({2 + vectors.numel()}, doubles);
    std::exception_ptr failure = std::exchange(failure_, nullptr);
    if (!failure) {
      try {
        const KeptProducts::Partial own = sum_over_batches(number, vectors, ask);
        packed[1].fill_(static_cast<double>(own.samples));
        packed.slice(0, 2).copy_(own.sum.reshape({-1}));
      } catch (...) {
        failure = std::current_exception();
        packed.zero_();
      }
    }
    if (failure) packed[0].fill_(1);
    const Tensor all = options_.ranks->sum(packed);
    if (failure) std::rethrow_exception(failure);
    const auto failures = all[0].item<double>();
    TORCH_CHECK(failures == 0,
                "data set operator: product ",
                products_,
                " failed on ",
                failures,
                " of ",
                W(),
                " ranks, which say why");
    return {count(), all[1].item<int64_t>(), all.slice(0, 2).view(vectors.sizes())};
  }

  // Adds up over this rank's batches.
  template <typename Ask>
  KeptProducts::Partial sum_over_batches(int64_t number,
                                         const Tensor& vectors,
                                         const Ask& ask) const {
    const bool is_kept = keeps() && number >= 0;
    KeptProducts::Partial done;
    if (is_kept) done = kept_partials_->partial(number, vectors).value_or(KeptProducts::Partial());
    // The sum is in double: in float a batch adds less and less to the sum of many.
    const auto wide = options().dtype(at::kDouble);
    done.sum = done.sum.defined() ? done.sum.to(wide) : at::zeros(vectors.sizes(), wide);
    while (done.batches < own_count()) {
      const int64_t k = rank() + done.batches * W();
      const Batch batch = new_batch(k);
      check_parameters(k, batch.parameters());
      ProductOptions asked;
      asked.groups = options_.groups;
      const auto part = curvature_operator(batch, kind_, asked);
      const int64_t samples = samples_in(batch);
      done.sum.add_(ask(*part).to(wide), static_cast<double>(samples));
      done.samples += samples;
      ++done.batches;
      add_remarks(part->remarks());
      const bool is_last = done.batches == own_count();
      if (is_kept && options_.keep_every > 0 && done.batches % options_.keep_every == 0 &&
          !(is_last && W() == 1)) {
        kept_partials_->keep(number, vectors, done);
      }
      if (options_.on_batch) options_.on_batch({products_, done.batches, own_count()});
    }
    return done;
  }

  void add_remarks(const std::vector<std::string>& some) const {
    for (const std::string& remark : some) {
      if (std::find(remarks_.begin(), remarks_.end(), remark) == remarks_.end()) {
        remarks_.push_back(remark);
      }
    }
  }

  // Tells what has to be the same for products to be those of the same matrix, as far as it is
  // known before the data are gone through.
  std::string description() const {
    uint64_t values = 0;
    for (const auto& [name, tensor] : parameters_) values = fingerprint(tensor, values);
    std::ostringstream text;
    text << "kind " << static_cast<int>(kind_) << ", " << count() << " batches, the first of "
         << counts_[0] << " samples, " << dim() << " parameters with mark " << std::hex << values
         << std::dec;
    for (const auto& group : options_.groups) {
      text << ", group";
      for (size_t p : group) text << ' ' << p;
    }
    return text.str();
  }

  BatchSource source_;
  CurvatureKind kind_;
  DataSetOptions options_;
  mutable std::vector<int64_t> counts_;  // samples of each batch, -1 before it was seen
  Parameters parameters_;
  FlatParameters flat_;
  mutable std::optional<KeptProducts> kept_, kept_partials_;
  mutable std::exception_ptr failure_;  // of this rank, to be told in the next sum
  mutable int64_t products_ = 0;
  mutable std::vector<std::string> remarks_;
};

}  // namespace

std::shared_ptr<const CurvatureOperator> data_set_operator(int64_t batches,
                                                           BatchSource source,
                                                           CurvatureKind kind,
                                                           const DataSetOptions& options) {
  return std::make_shared<DataSetOperator>(batches, std::move(source), kind, options);
}

}  // namespace flightdeck
