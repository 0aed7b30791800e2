// SPDX-License-Identifier: MIT
#include "rows/sweep.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace flightdeck {

Sweep::Sweep(const Asked& asked, const Questions& questions, const RowsSize& size)
    : look_(look_of(asked)), size_(size), sums_(look_, size, questions.share) {
  for (const Answer* answer : asked) {
    parts_.push_back({answer, answer->look(), answer->start(questions, size)});
  }
  std::stable_partition(
      parts_.begin(), parts_.end(), [](const Asking& part) { return part.look.gives_norms; });
}

void Sweep::add(const Piece& piece, bool is_summed) {
  if (is_summed) {
    sums_.add_centred(piece);
  } else {
    sums_.add(piece);
  }
  for (const Asking& part : parts_) {
    if (part.look.rows || part.look.keeps) part.accumulator->add(piece);
  }
}

void Sweep::add_pair(const Piece& piece, const Piece& later) {
  for (const Asking& part : parts_) {
    if (part.look.pairs) part.accumulator->add_pair(piece, later);
  }
}

void Sweep::finish(const Shape& shape, Answers& answers) {
  Asked finished;
  for (const Asking& part : parts_) {
    part.answer->put(answers, part.accumulator->finish(sums_));
    finished.push_back(part.answer);
  }
  move_entries(
      finished,
      [&shape](const Tensor& tensor, int64_t lead) {
        Shape sizes = tensor.sizes().slice(0, lead).vec();
        sizes.insert(sizes.end(), shape.begin(), shape.end());
        return tensor.view(sizes);
      },
      answers);
}

void sweep_samples(const Writable& writable,
                   int64_t samples_at_once,
                   const Questions& questions,
                   Sweep& sweep) {
  const int64_t N = writable.size.N;
  const auto piece_at = [&](int64_t begin) {
    const int64_t end = std::min(begin + samples_at_once, N);
    return Piece{writable.rows(begin, end).reshape({end - begin, -1}), begin, 0};
  };
  const bool is_cut = samples_at_once < N;
  if (is_cut && sweep.look().any_centred()) {
    sweep.sums().know_sum(writable.sum().mul(questions.share));
  }
  for (int64_t begin = 0; begin < N; begin += samples_at_once) {
    const Piece piece = piece_at(begin);
    sweep.add(piece);
    if (!sweep.look().pairs) continue;
    for (int64_t later = begin + samples_at_once; later < N; later += samples_at_once) {
      sweep.add_pair(piece, piece_at(later));
    }
  }
}

}  // namespace flightdeck
