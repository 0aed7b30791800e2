// SPDX-License-Identifier: MIT
#include "flightdeck/vivit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <ATen/ATen.h>

#include "curvature/context.h"
#include "curvature/eigh.h"
#include "curvature/vivit_rows.h"

namespace flightdeck {

// Answers what follows from the Gram matrices of the rows: spectra, directions, Newton steps.
class Vivit::State {
 public:
  State(const Batch& batch, const VivitOptions& options)
      : rows_(batch, options), spectra_(rows_.groups()) {}

  struct Spectrum {
    Tensor values, vectors;  // the largest value first; vectors in columns
    int64_t rank = -1;
  };

  size_t groups() const { return rows_.groups(); }
  const std::vector<std::string>& remarks() const { return rows_.remarks(); }

  Tensor gram(size_t group) const {
    return rows_.gram(group).slice(0, 0, R()).slice(1, 0, R()) / double(S());
  }
  Tensor gradient_gram(size_t group) const {
    check_gradients();
    return rows_.gram(group).slice(0, R()).slice(1, R());
  }

  Tensor gram_eigenvalues(size_t group) const {
    Spectrum& spectrum = spectra_.at(group);
    if (!spectrum.values.defined()) {
      spectrum.values = eigenvalues_of(gram(group)).flip(0).clamp_min_(0);
    }
    return spectrum.values;
  }

  int64_t rank(size_t group) const {
    rows_.check_group(group);
    Spectrum& spectrum = spectra_[group];
    if (spectrum.rank >= 0) return spectrum.rank;
    const Tensor values = gram_eigenvalues(group);
    const double rounding = values.scalar_type() == at::kDouble
                                ? std::numeric_limits<double>::epsilon()
                                : std::numeric_limits<float>::epsilon();
    const double tolerance = rows_.options().rank_tolerance >= 0 ? rows_.options().rank_tolerance
                                                                 : rounding * double(R()) * 4;
    const double largest = values.numel() > 0 ? values.max().item<double>() : 0;
    spectrum.rank = (values > tolerance * largest).sum().item<int64_t>();
    return spectrum.rank;
  }

  // Returns eigenvalues [R] and eigenvectors [R, R] in columns, of the whole Gram matrix.
  const Spectrum& decomposed(size_t group) const {
    rows_.check_group(group);
    Spectrum& spectrum = spectra_[group];
    if (!spectrum.vectors.defined()) {
      const auto [values, vectors] = eigh(gram(group));  // ascending, as LibTorch has it
      // Values that were handed out stay as they are to the bit: a caller may choose by them.
      if (!spectrum.values.defined()) spectrum.values = values.flip(0).clamp_min_(0);
      spectrum.vectors = vectors.flip(1);
    }
    return spectrum;
  }

  // Returns eigenvalues [count] and coefficients [count, R] of these eigenvectors.
  std::pair<Tensor, Tensor> chosen(const Directions& which, size_t group) const {
    const std::vector<int64_t> positions =
        which.positions(gram_eigenvalues(group).slice(0, 0, rank(group)));
    const Spectrum& spectrum = decomposed(group);
    const Tensor index = at::tensor(positions, at::kLong).to(spectrum.values.device());
    return {spectrum.values.index_select(0, index), spectrum.vectors.index_select(1, index).t()};
  }

  Tensor gammas(const Directions& which, size_t group) const {
    check_gradients();
    const auto [values, coefficients] = chosen(which, group);
    return slopes(values, coefficients, group);
  }

  // Returns g_n·e_k, [G, count].
  Tensor slopes(const Tensor& values, const Tensor& coefficients, size_t group) const {
    const Tensor cross = rows_.gram(group).slice(0, R()).slice(1, 0, R()) / std::sqrt(double(S()));
    return at::mm(cross, coefficients.t()) / values.sqrt();
  }

  Tensor lambdas(const Directions& which, size_t group) const {
    const auto [values, coefficients] = chosen(which, group);
    const Tensor squares =
        coefficients.reshape({-1, rows_.K(), S()}).square().sum(1);  // [count, S]
    return squares.t() * values * double(S());
  }

  std::vector<Tensor> eigenvectors(const Directions& which, size_t group) const {
    const auto [values, coefficients] = chosen(which, group);
    const Tensor scaled = coefficients / (values * double(S())).sqrt().unsqueeze(1);
    return rows_.combine(with_gradients(scaled, Tensor()), group);
  }

  std::vector<Tensor> newton_step(const Tensor& damping,
                                  const Directions& which,
                                  bool trivial,
                                  size_t group) const {
    check_gradients();
    const auto [values, coefficients] = chosen(which, group);
    const Tensor d = damping.to(values.options()).reshape({-1});
    const int64_t count = values.size(0);
    TORCH_CHECK_VALUE(d.numel() == 1 || d.numel() == count + (trivial ? 1 : 0),
                      "vivit: damping has ",
                      damping.numel(),
                      " entries for ",
                      count,
                      trivial ? " directions and the trivial ones" : " directions",
                      "; give one entry, or one per direction",
                      trivial ? " and one for the rest" : "");
    const Tensor of_rest = d.slice(0, d.numel() - 1);
    TORCH_CHECK_VALUE(!trivial || of_rest.item<double>() > 0,
                      "vivit: damping is ",
                      of_rest.item<double>(),
                      " but directions without curvature need a positive one; raise it, or leave "
                      "them out with trivial = false");
    const Tensor gamma = slopes(values, coefficients, group).mean(0);
    Tensor along = -gamma / (values + (d.numel() == 1 ? d : d.slice(0, 0, count)));
    Tensor gradient_part;
    if (trivial) {
      along = along + gamma / of_rest;  // the rest of the gradient goes with 1 / damping
      gradient_part = at::full({1, G()}, 1.0 / double(G()), values.options()) * (-1 / of_rest);
    }
    const Tensor scaled = along / (values * double(S())).sqrt();
    std::vector<Tensor> step = rows_.combine(
        with_gradients(at::mm(scaled.unsqueeze(0), coefficients), gradient_part), group);
    for (Tensor& part : step) part = part.squeeze(0);
    return step;
  }

  int64_t dim(size_t group) const { return rows_.dim(group); }
  at::TensorOptions vector_options() const { return rows_.gram(0).options(); }

  // Returns (v - V U (Λ + damping)^-1 Uᵀ Vᵀ v / S) / damping, with VᵀV / S = U Λ Uᵀ.
  Tensor inverse_product(const Tensor& vectors, double damping, size_t group) const {
    TORCH_CHECK_VALUE(vectors.dim() == 2 && vectors.size(1) == dim(group),
                      "vivit inverse: vectors have shape ",
                      vectors.sizes(),
                      " but must be [V, D] with D = ",
                      dim(group),
                      ", the entries of the parameters of group ",
                      group,
                      "; flatten and concatenate them");
    const Spectrum& spectrum = decomposed(group);
    const Tensor v = vectors.detach().to(vector_options());
    const Tensor along = at::mm(rows_.inner_products(v, group).t(), spectrum.vectors);  // [V, R]
    const Tensor scaled = along / ((spectrum.values + damping) * double(S()));
    const Tensor coefficients = at::mm(scaled, spectrum.vectors.t());
    std::vector<Tensor> parts;
    for (const Tensor& part : rows_.combine(with_gradients(coefficients, Tensor()), group)) {
      parts.push_back(part.flatten(1).to(v.options()));
    }
    return (v - at::cat(parts, 1)) / damping;
  }

 private:
  int64_t S() const { return rows_.S(); }
  int64_t G() const { return rows_.G(); }
  int64_t R() const { return rows_.R(); }

  void check_gradients() const {
    TORCH_CHECK_VALUE(rows_.options().gradients,
                      "vivit: directional gradients need individual gradients, but "
                      "options.gradients is false; set it to true");
  }

  // Puts [M, R] and [M, G] (or zero) side by side, as coefficients of all rows.
  Tensor with_gradients(const Tensor& coefficients, const Tensor& of_gradients) const {
    if (G() == 0) return coefficients;
    const Tensor rest = of_gradients.defined()
                            ? of_gradients
                            : at::zeros({coefficients.size(0), G()}, coefficients.options());
    return at::cat({coefficients, rest}, 1);
  }

  VivitRows rows_;
  mutable std::vector<Spectrum> spectra_;
};

namespace {

class VivitInverse final : public LinearOperator {
 public:
  VivitInverse(std::shared_ptr<const Vivit::State> state, double damping, size_t group)
      : state_(std::move(state)), damping_(damping), group_(group) {}
  int64_t dim() const override { return state_->dim(group_); }
  at::TensorOptions options() const override { return state_->vector_options(); }
  Tensor multiply(const Tensor& vectors) const override {
    return with_curvature_remedies(
        [&] { return state_->inverse_product(vectors, damping_, group_); });
  }

 private:
  std::shared_ptr<const Vivit::State> state_;
  double damping_;
  size_t group_;
};

}  // namespace

Vivit::Vivit(const Batch& batch, const VivitOptions& options) {
  with_curvature_remedies([&] { state_ = std::make_shared<State>(batch, options); });
}
Vivit::Vivit(const Tensor& losses, const Parameters& parameters, const VivitOptions& options)
    : Vivit(Batch(losses, parameters), options) {}
Vivit::~Vivit() = default;
Vivit::Vivit(Vivit&&) noexcept = default;
Vivit& Vivit::operator=(Vivit&&) noexcept = default;

size_t Vivit::groups() const { return state_->groups(); }
int64_t Vivit::rank(size_t group) const {
  return with_curvature_remedies([&] { return state_->rank(group); });
}
Tensor Vivit::gram(size_t group) const {
  return with_curvature_remedies([&] { return state_->gram(group); });
}
Tensor Vivit::gradient_gram(size_t group) const {
  return with_curvature_remedies([&] { return state_->gradient_gram(group).clone(); });
}
Tensor Vivit::gram_eigenvalues(size_t group) const {
  return with_curvature_remedies([&] {
    state_->rank(group);  // checks the group
    return state_->gram_eigenvalues(group);
  });
}
Tensor Vivit::eigenvalues(size_t group) const {
  return with_curvature_remedies([&] {
    const int64_t rank = state_->rank(group);
    return state_->gram_eigenvalues(group).slice(0, 0, rank);
  });
}
std::vector<Tensor> Vivit::eigenvectors(const Directions& which, size_t group) const {
  return with_curvature_remedies([&] { return state_->eigenvectors(which, group); });
}
Tensor Vivit::gammas(const Directions& which, size_t group) const {
  return with_curvature_remedies([&] { return state_->gammas(which, group); });
}
Tensor Vivit::lambdas(const Directions& which, size_t group) const {
  return with_curvature_remedies([&] { return state_->lambdas(which, group); });
}
Tensor Vivit::signal_to_noise(const Tensor& per_sample) {
  const Tensor values = per_sample.to(at::kDouble);
  return values.mean(0).square() / values.var(0, /*unbiased=*/true);
}
std::vector<Tensor> Vivit::newton_step(const Tensor& damping,
                                       const Directions& which,
                                       bool trivial,
                                       size_t group) const {
  return with_curvature_remedies(
      [&] { return state_->newton_step(damping, which, trivial, group); });
}
std::shared_ptr<const LinearOperator> Vivit::inverse(double damping, size_t group) const {
  TORCH_CHECK_VALUE(damping > 0,
                    "vivit inverse: damping is ",
                    damping,
                    " but the GGN has directions without curvature; give a positive one");
  static_cast<void>(state_->dim(group));  // checks the group
  return std::make_shared<VivitInverse>(state_, damping, group);
}
const std::vector<std::string>& Vivit::remarks() const { return state_->remarks(); }

}  // namespace flightdeck
