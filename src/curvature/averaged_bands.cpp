// SPDX-License-Identifier: MIT
#include "curvature/averaged_bands.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

namespace flightdeck {
namespace {

class ElementwiseBand final : public BandOp {
 public:
  ElementwiseBand(Tensor slopes, int64_t channels)
      : slopes_(std::move(slopes)), size_(slopes_.size(1) / channels) {}
  Tensor through(const Tensor& band, int64_t j) const override {
    const Tensor own = slopes_.slice(1, j * size_, (j + 1) * size_);
    const Tensor mean = at::mm(own.t(), slopes_.slice(1, j * size_));
    return mean.mul_(band).div_(static_cast<double>(slopes_.size(0)));
  }

 private:
  Tensor slopes_;  // [N, m]
  int64_t size_;
};

class PadBand final : public BandOp {
 public:
  PadBand(const NodeView& view, Shape padding, int64_t channels) : channels_(channels) {
    // Cropping the numbers of the output entries leaves those that are input entries.
    Shape plane = view.output_shape();
    plane.erase(plane.begin(), plane.begin() + 2);
    for (int64_t& side : padding) side = -side;
    const auto device = view.node()->input_metadata(0).device();
    index_ = at::constant_pad_nd(at::arange(product(plane)).view(plane), padding)
                 .reshape({-1})
                 .to(device);
  }
  Tensor through(const Tensor& band, int64_t j) const override {
    const Tensor split = band.reshape({band.size(0), channels_ - j, -1});
    return split.index_select(0, index_).index_select(2, index_).flatten(1);
  }

 private:
  int64_t channels_;
  Tensor index_;
};

class MaxPoolBand final : public BandOp {
 public:
  // `sources` [N, m] has the input entry that each output entry is a copy of.
  MaxPoolBand(const Tensor& sources, int64_t channels, int64_t inputs)
      : sources_(sources.remainder(inputs).to(at::kInt).contiguous()),
        channels_(channels),
        inputs_(inputs) {}

  Tensor through(const Tensor& band, int64_t j) const override {
    Tensor result = at::zeros({inputs_, (channels_ - j) * inputs_}, band.options());
    if (!band.is_cpu()) {
      scatter_by_ops(band, j, result);
    } else if (band.scalar_type() == at::kFloat) {
      scatter<float>(band.contiguous(), j, result);
    } else {
      scatter<double>(band.contiguous(), j, result);
    }
    return result.div_(static_cast<double>(sources_.size(0)));
  }

 private:
  void scatter_by_ops(const Tensor& band, int64_t j, Tensor& result) const {
    const int64_t outputs = band.size(0);
    const Tensor split = band.reshape({outputs, channels_ - j, outputs});
    for (int64_t n = 0; n < sources_.size(0); ++n) {
      const Tensor own = sources_[n].to(at::kLong).view({channels_, outputs});
      const Tensor wide =
          at::zeros({outputs, channels_ - j, inputs_}, band.options())
              .scatter_add_(2, own.slice(0, j).unsqueeze(0).expand_as(split), split);
      result.index_add_(0, own[j], wide.flatten(1));
    }
  }

  template <typename Scalar>
  void scatter(const Tensor& band, int64_t j, const Tensor& result) const {
    const int64_t N = sources_.size(0), m = sources_.size(1), outputs = band.size(0);
    const Scalar* from = band.data_ptr<Scalar>();
    const int32_t* sources = sources_.data_ptr<int32_t>();
    Scalar* to = result.data_ptr<Scalar>();
    // Threads own channels of the columns, so none writes where another does.
    at::parallel_for(j, channels_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t o = 0; o < outputs; ++o) {
        const Scalar* line = from + o * band.size(1);
        for (int64_t n = 0; n < N; ++n) {
          const int32_t* own = sources + n * m;
          Scalar* row = to + own[j * outputs + o] * result.size(1);
          for (int64_t c = begin; c < end; ++c) {
            const int32_t* place = own + c * outputs;
            const Scalar* values = line + (c - j) * outputs;
            Scalar* target = row + (c - j) * inputs_;
            for (int64_t p = 0; p < outputs; ++p) target[place[p]] += values[p];
          }
        }
      }
    });
  }

  Tensor sources_;
  int64_t channels_, inputs_;
};

}  // namespace

std::unique_ptr<BandOp> elementwise_band(const Tensor& slopes, int64_t channels) {
  return std::make_unique<ElementwiseBand>(slopes, channels);
}

std::unique_ptr<BandOp> pad_band(const NodeView& view, const Shape& padding, int64_t channels) {
  return std::make_unique<PadBand>(view, padding, channels);
}

std::unique_ptr<BandOp> max_pool_band(const Tensor& sources, int64_t channels, int64_t inputs) {
  return std::make_unique<MaxPoolBand>(sources, channels, inputs);
}

}  // namespace flightdeck
