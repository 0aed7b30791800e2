// SPDX-License-Identifier: MIT
// One answer about rows, such as their norms or their Gram matrix. Every answer is a file of
// answers/: it says which tensor of ParameterGradients it fills and how that is added up from
// pieces of rows. This suffices; what is cheaper for rows in factored form is optional.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "base/shape.h"
#include "rows/questions.h"

namespace flightdeck {

class Lines;
class Multiples;
class Positions;
class Products;
class SumWithShared;
class Sums;

// An answer consists of these: one tensor, or one per histogram. None means that there is no
// answer.
using Values = std::vector<Tensor>;

// Says what the tensors of an answer run over.
enum class Extent {
  kEntries,  // [*shape]
  kRows,     // [N, *shape]
  kSamples,  // [N] or [N, V]: small, whatever the model is
  kPairs,    // [N, N]
  kCounts,   // numbers of entries
};

// Says what becomes of an answer if all rows are multiplied by a factor.
enum class Power { kNone, kLinear, kMagnitude, kSquare };

// Says how the answers of several ranks, each about its own samples, become that about all of them,
// and in which of the two sums of a step. What is a mean over samples counts with their number.
enum class OverRanks {
  kSum,         // entry by entry; first
  kSideBySide,  // per sample, in the order of the ranks; second
  kAboutMean,   // moved by `about` to the mean of all, then as the extent says; second
  kFromRows,    // from the rows of all ranks, where these take few enough bytes; second
};

struct AnswerKind {
  const char* name;  // of the field of ParameterGradients
  const char* asked_by;
  const char* in_words;  // in the plan of a step: "products with the mean"
  Extent extent;
  Power power;
  OverRanks over_ranks;
  // This is true if the answer of a sum of rows is the sum of their answers.
  bool is_linear = false;
  bool in_double = false;  // whatever the rows are in
};

// Says what an answer takes from a sweep over the rows. Sums are added up once for all who take
// them.
struct Look {
  bool sum = false;              // sum_n g_n
  bool squares = false;          // sum_n g_n² per entry
  bool norms = false;            // ||g_n||
  bool centred = false;          // ||g_n - g||² and <g_n, g>
  bool centred_squares = false;  // sum_n (g_n - g)² per entry
  bool rows = false;             // every piece is given to `add`
  bool pairs = false;            // and every pair of pieces to `add_pair`, where samples are cut
  bool keeps = false;            // the pieces are copied as they are
  bool gives_norms = false;      // the norms are a by-product

  bool any_centred() const { return centred || centred_squares; }
  // Returns true if something looks at the rows again after they were formed.
  bool reads() const { return rows || any_centred(); }
};
Look operator|(const Look& a, const Look& b);

// Describes the rows that a sweep goes over: N rows of so many entries.
struct RowsSize {
  int64_t N = 0, entries = 0;
  at::TensorOptions options;
};

// Holds some samples of the rows in some of their entries.
struct Piece {
  Tensor rows;  // [n, e]
  int64_t sample = 0, entry = 0;

  int64_t end_sample() const { return sample + rows.size(0); }
  int64_t end_entry() const { return entry + rows.size(1); }
  bool has_all_samples(const RowsSize& size) const { return rows.size(0) == size.N; }
  bool is_whole(const RowsSize& size) const {
    return has_all_samples(size) && rows.size(1) == size.entries;
  }
};

// Holds the state of one answer in one sweep.
class Accumulator {
 public:
  virtual ~Accumulator() = default;
  virtual void add(const Piece&) {}
  // Adds a pair of pieces. Both have all entries, and the second one has later samples.
  virtual void add_pair(const Piece&, const Piece&) {}
  // Returns the answer with its entries in one dimension: [entries] or [N, entries].
  virtual Values finish(Sums& sums) = 0;
};

// Leads from the mean h of some rows to a mean g of more of them.
struct MeanShift {
  Tensor own_mean;  // h, [entries] in double
  Tensor offset;    // h - g, [entries] in double
  Tensor products;  // <g_n, h - g>, [n] in double
};

class Answer {
 public:
  virtual ~Answer() = default;

  virtual AnswerKind kind() const = 0;
  // Returns the need that asks for it; none if something else of the questions does.
  virtual Needs need() const { return {}; }
  virtual bool is_asked(const Questions& questions) const = 0;
  // Returns the tensor that it fills, if it fills one.
  virtual Tensor ParameterGradients::*field() const { return nullptr; }
  virtual Values get(const ParameterGradients& from) const = 0;
  virtual void put(ParameterGradients& to, Values values) const = 0;
  // Returns further needs without which the answer means nothing to who asks for it.
  virtual Needs asks_along() const { return {}; }

  // The next functions answer from rows of any kind.
  virtual Look look() const = 0;
  // Returns true if it looks at rows only where another answer does, and takes the factors
  // elsewhere.
  virtual bool follows_others() const { return false; }
  virtual std::unique_ptr<Accumulator> start(const Questions& questions,
                                             const RowsSize& size) const = 0;

  // These answer from factors, without rows; see rows/factored.h. The defaults have no answer.
  virtual Values from_products(const Products&, const Questions&) const { return {}; }
  virtual Values from_lines(const Lines&, const Questions&) const { return {}; }
  virtual Values from_multiples(const Multiples&, const Questions&) const { return {}; }
  virtual Values from_positions(const Positions&, const Questions&) const { return {}; }
  virtual double flops_from_positions(const Positions&, const Questions&) const {
    return std::numeric_limits<double>::infinity();
  }
  virtual double flops_on_rows(const Positions&) const { return 0; }
  // Names a route over positions that is worth a word in the coverage report.
  virtual const char* route_over_positions() const { return nullptr; }

  // Tells what the answer of a sum takes, where rows x are added to multiples of shared vectors:
  // what it needs of either, and whether it takes <x_n, v>. The default has no answer.
  struct SumNeeds {
    bool is_able = false;
    Needs of_each;
    bool products = false;
  };
  virtual SumNeeds needs_of_sum(const Questions&) const { return {}; }
  virtual Values from_sum(SumWithShared&, const Questions&) const { return {}; }

  // Returns the answer of `count` zero rows of this shape.
  virtual Values zeros(int64_t count,
                       const Shape& shape,
                       const at::TensorOptions& options,
                       const Questions& questions) const;
  // Adds `times` rows of so many entries that are zero; a negative number takes them away again.
  virtual void add_zeros(Values&,
                         int64_t /*times*/,
                         int64_t /*entries*/,
                         const at::TensorOptions&,
                         const Questions&) const {}
  // Adds the answer of other entries, or for linear answers of other rows.
  virtual void add(Values& total, const Values& part) const;
  // Turns the answer into that of rows multiplied by `factor` (one element).
  void scale(Values& values, const Tensor& factor) const;
  // Turns an answer that refers to the mean of its own rows, flat and in double, into that which
  // refers to the other mean.
  virtual Tensor about(const Tensor& own, const MeanShift&) const { return own; }
  // Adds to the answer of all parameters taken together as one vector.
  virtual void add_to_total(Values& total, const Values& part) const;
  virtual void finish_total(Values&) const {}
  // Returns true if that answer is the sum over the parameters.
  virtual bool is_sum_in_total() const;
};

// An answer that is one tensor and has a need of its own.
class TensorAnswer : public Answer {
 public:
  TensorAnswer(Need need, Tensor ParameterGradients::*field) : need_(need), field_(field) {}

  Needs need() const override { return need_; }
  Need own_need() const { return need_; }
  bool is_asked(const Questions& questions) const override { return questions.what.has(need_); }
  Tensor ParameterGradients::*field() const override { return field_; }
  Values get(const ParameterGradients& from) const override;
  void put(ParameterGradients& to, Values values) const override;

 private:
  Need need_;
  Tensor ParameterGradients::*field_;
};

// Reads a sum of the sweep and accumulates nothing itself.
class SumReader final : public Accumulator {
 public:
  using Read = Tensor (Sums::*)();
  explicit SumReader(Read read) : read_(read) {}
  Values finish(Sums& sums) override;

 private:
  Read read_;
};

using Asked = std::vector<const Answer*>;

// Returns all answers, by name.
const Asked& answer_catalogue();
// Returns the answers that are asked for.
Asked asked(const Questions& questions);
Needs needs_of(const Asked& asked);
// Returns everything that these take from a sweep.
Look look_of(const Asked& asked);
// Returns true if some of them look at rows again after they were formed, whatever the others do.
bool reads_rows(const Asked& asked);

// Gives every answer to `answer_one`, collects what it returns in `answers` and returns those that
// had no values.
Asked answer_each(const Asked& asked,
                  const std::function<Values(const Answer&)>& answer_one,
                  Answers& answers);

// Changes every answer that runs over entries: `move(tensor, lead)` for tensors [*lead, *entries].
void move_entries(const Asked& asked,
                  const std::function<Tensor(const Tensor& tensor, int64_t lead)>& move,
                  Answers& answers);

}  // namespace flightdeck
