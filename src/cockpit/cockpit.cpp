// SPDX-License-Identifier: MIT
#include "flightdeck/cockpit.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <set>
#include <sstream>
#include <utility>

#include <ATen/ATen.h>

#include "base/words.h"
#include "cockpit/emit.h"
#include "cockpit/groups.h"
#include "cockpit/output.h"
#include "cockpit/plan.h"
#include "cockpit/run_info.h"
#include "cockpit/saved_state.h"
#include "cockpit/step.h"
#include "cockpit/update.h"
#include "passes/gradient_fields.h"
#include "quantities/group_sums.h"

namespace flightdeck {
namespace {

constexpr const char* kRoundingRemark =
    "limited by rounding at some steps (field limited_by_rounding): the samples' gradients differ "
    "by "
    "hardly more than rounding, which may be over 1 % of the value; compute the model in a finer "
    "type to see it";

// The update after a step, for those who asked for it.
class Update final : public UpdateView {
 public:
  Update(int64_t step, const Groups& groups, const UpdateTracker& tracker, Tensor squares)
      : step_(step), groups_(groups), tracker_(tracker), squares_(std::move(squares)) {}

  int64_t step() const override { return step_; }
  const Groups& groups() const override { return groups_; }
  const Tensor& squared_update() const override { return squares_; }
  const Tensor& squared_parameters() const override {
    if (!before_.defined()) before_ = sum_by_group(tracker_.squares_before(), groups_);
    return before_;
  }

 private:
  int64_t step_;
  const Groups& groups_;
  const UpdateTracker& tracker_;
  Tensor squares_;
  mutable Tensor before_;
};

constexpr const char* kStandstill =
    "the parameters did not change between this step and the next. If gradients are accumulated "
    "over several backward passes, watch one of them per optimizer step "
    "(docs/gradient_accumulation.md)";

// What a watched step leaves to be completed by the next one.
struct Pending {
  int64_t step = 0;
  std::vector<size_t> for_update, for_line;  // instruments
  std::shared_ptr<const KeptRows> rows;      // until the update is known
  LineEnd start;
  Tensor squared_length;  // of the update, once known
  NamedValues values;     // of this step, known since
};

// Quantities that were switched off for one reason.
struct Failure {
  int64_t step = 0;
  std::string message;
  std::vector<std::string> quantities, passes;
};

Parameters without_further_names(const Parameters& parameters) {
  std::vector<NamedParameter> first;
  std::set<const c10::TensorImpl*> seen;
  for (const NamedParameter& parameter : parameters) {
    const c10::TensorImpl* tensor = parameter.tensor.unsafeGetTensorImpl();
    if (!parameter.tensor.defined() || seen.insert(tensor).second) first.push_back(parameter);
  }
  return first;
}

// "[5, 6] Float on cpu".
std::string kind_of(const Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes() << ' ' << tensor.scalar_type() << " on " << tensor.device();
  return text.str();
}

std::vector<Tensor> as_directions(const std::vector<Tensor>& updates) {
  std::vector<Tensor> directions;
  for (const Tensor& update : updates) directions.push_back(update.unsqueeze(0));
  return directions;
}

// LibTorch does not name an undefined tensor: says which of the step's nobody asked for.
Value compute_with_remedy(const Quantity::Compute& compute, const Step& step) {
  try {
    return compute(step);
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    const auto mentions = [&](const char* words) { return what.find(words) != std::string::npos; };
    const bool is_undefined = mentions("undefined Tensor") || mentions("undefined tensor") ||
                              mentions("no tensor arguments");
    TORCH_CHECK(!is_undefined || !step.has_gradients(),
                "a tensor that was not computed is read; of the gradients no quantity asked for ",
                missing_fields(step.gradients()),
                ": name what is read in Quantity::needs (",
                what,
                ")");
    throw;
  }
}

LineView line_view(const Pending& pending,
                   const LineEnd& end,
                   double length,
                   const std::vector<Tensor>& fetched) {
  LineView line;
  line.step = pending.step;
  line.length = length;
  line.batch_size[0] = pending.start.batch_size;
  line.batch_size[1] = end.batch_size;
  for (int64_t k = 0; k < 2; ++k) {
    const double* losses = fetched[2 * k].data_ptr<double>();
    const double* slopes = fetched[2 * k + 1].data_ptr<double>();
    line.loss[k] = losses[0];
    line.loss_variance[k] = losses[1];
    line.slope[k] = slopes[0] / line.length;
    line.slope_variance[k] = slopes[1] / (line.length * line.length);
  }
  return line;
}

}  // namespace

class Cockpit::State : public std::enable_shared_from_this<Cockpit::State> {
 public:
  State(Parameters parameters, std::vector<Quantity> quantities, CockpitOptions options)
      : output_(options.on_warning, options.wording), tracker_(parameters) {
    context_.parameters = std::move(parameters);
    context_.options = std::move(options);
    context_.start = std::chrono::steady_clock::now();
    check_parameters();
    const Grouping& grouping = context_.options.grouping;
    context_.groups = make_groups(
        needs_graph(grouping) ? Grouping::whole() : grouping, context_.parameters, nullptr);
    knows_groups_ = !needs_graph(grouping);
    for (const NamedParameter& parameter : context_.parameters) {
      context_.initial_parameters.push_back(parameter.tensor.detach().clone());
    }
    for (Quantity& quantity : quantities) add_instrument(std::move(quantity));
  }

  void add(Quantity quantity) {
    const Call call(*this, "add");
    TORCH_CHECK(!output_.has_begun(),
                "cockpit: '",
                quantity.name(),
                "' is added after the first watched step; add quantities before");
    add_instrument(std::move(quantity));
  }

  void add_sink(std::shared_ptr<Sink> sink) {
    const Call call(*this, "add_sink");
    TORCH_CHECK_VALUE(sink, "cockpit: the sink is null; give one that exists");
    TORCH_CHECK(!output_.has_begun(),
                "cockpit: a sink is added after the first values; add it before the first step");
    output_.add(std::move(sink));
  }

  void describe(const std::string& key, const std::string& value) {
    const Call call(*this);
    config_[key] = value;
    if (output_.has_begun()) tell_run();
  }

  bool begin_step(int64_t step, const Tensor& losses, const WatchOptions& options);
  void end_step(int64_t step);
  void abandon_step(int64_t step);
  bool is_watching(int64_t step) {
    const Call call(*this);
    return current_ && current_->step() == step;
  }
  void log(int64_t step, const std::map<std::string, double>& values);
  void finish(Ending ending);
  std::map<std::string, Tensor> save() {
    const Call call(*this);
    return save_state(context_, instruments_);
  }
  void load(const std::map<std::string, Tensor>& saved) {
    const Call call(*this, "load");
    TORCH_CHECK(!last_step_, "cockpit: load comes after the first watched step; load before it");
    load_state(saved, context_, instruments_);
  }

  const CockpitOptions& options() const { return context_.options; }
  bool is_due(int64_t step) {
    const Call call(*this);
    return is_completed_by(step) || !plan(step).is_empty();
  }
  std::string plan_text(int64_t step) {
    const Call call(*this);
    return plan(step).text(instruments_);
  }

 private:
  // One call from outside. Those of other threads wait. What a call runs (quantities, schedules,
  // sinks) may call again, and may even destroy the cockpit: the state lives until the outermost
  // call is over, and only then is a run ended.
  class Call {
   public:
    explicit Call(State& state) : state_(state.shared_from_this()), lock_(state.mutex_) {
      ++state.depth_;
    }
    // For what must not happen in the middle of another call.
    Call(State& state, const char* what) : Call(state) {
      TORCH_CHECK(state.depth_ == 1,
                  what,
                  ": it is called from inside a quantity, a schedule or a sink; call it from the "
                  "training loop");
    }
    ~Call() {
      if (state_->depth_ == 1) {
        state_->tell_failures();
        state_->end_run_if_asked();
      }
      --state_->depth_;
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    std::shared_ptr<State> state_;
    std::lock_guard<std::recursive_mutex> lock_;
  };

  void add_instrument(Quantity quantity) {
    for (const Instrument& other : instruments_) {
      TORCH_CHECK_VALUE(other.quantity.name() != quantity.name(),
                        "cockpit: two quantities are called '",
                        quantity.name(),
                        "'; give one of them another name by named()");
    }
    Quantity::Functions functions = quantity.functions();
    instruments_.push_back({std::move(quantity), std::move(functions), true});
  }

  // Without those whose schedule throws.
  Plan plan(int64_t step) const {
    return make_plan(step, instruments_, ends_line(step), [](size_t) {});
  }
  // The step before waits for its update, or for the other end of it.
  bool is_completed_by(int64_t step) const { return pending_ && pending_->step + 1 == step; }
  void check_parameters() const;
  void check_unchanged_parameters() const;
  void check_step(int64_t step) const;
  bool ends_line(int64_t step) const {
    return is_completed_by(step) && !pending_->for_line.empty();
  }
  void tell_run();
  void find_groups(const Tensor& losses, const WatchOptions& options);
  const std::vector<Tensor>& complete_update(Plan& plan);
  void drop_pending(int64_t step);
  void give_up_step();
  void compute_values(NamedValues& values);
  void publish(const NamedValues& values, const std::optional<LineEnd>& line_end);
  void leave_pending();
  void take_remarks();
  void warn_of_lost_parameters();
  void end_run_if_asked() noexcept;
  template <typename Compute>
  void attempt(size_t instrument, NamedValues& values, const Compute& compute);
  // Inside a catch block: switches off who failed, or throws on.
  void switch_off_failed(const std::vector<size_t>& instruments, int64_t step);
  void switch_off(size_t instrument, int64_t step, const char* pass);
  // What was switched off for one reason is one note and one warning.
  void tell_failures() noexcept;
  // For failures of a pass: switches off whom it concerns.
  Step::OnFailure on_failure(int64_t step);
  // Inside a catch block, for what the caller did wrong: said once and recorded, or thrown on.
  void complain(int64_t step);

  std::recursive_mutex mutex_;
  int depth_ = 0;  // calls that have begun and not returned
  StepContext context_;
  std::vector<Instrument> instruments_;
  std::map<std::string, std::string> config_;
  std::string coverage_;
  Output output_;
  UpdateTracker tracker_;
  bool knows_groups_ = false;
  std::vector<bool> took_part_;    // per parameter: in the losses of a step before
  std::vector<Failure> failures_;  // not told yet
  std::optional<Ending> ending_;   // asked for
  bool is_finished_ = false;
  std::optional<int64_t> last_step_;
  std::optional<RunInfo> info_;
  std::unique_ptr<Step> current_;
  std::optional<Pending> pending_;
};

void Cockpit::State::check_parameters() const {
  TORCH_CHECK_VALUE(context_.parameters.size() > 0, "cockpit: there are no parameters to watch");
  std::set<std::string> names;
  for (const NamedParameter& parameter : context_.parameters) {
    TORCH_CHECK_VALUE(parameter.tensor.defined() && parameter.tensor.requires_grad(),
                      "cockpit: parameter '",
                      parameter.name,
                      "' does not require gradients; leave it out, or make it require them");
    TORCH_CHECK_NOT_IMPLEMENTED(!parameter.tensor.is_complex(),
                                "cockpit: parameter '",
                                parameter.name,
                                "' has type ",
                                parameter.tensor.scalar_type(),
                                " but quantities are those of real entries; keep a real parameter "
                                "[..., 2] in its place and call view_as_complex on it in the "
                                "model");
    TORCH_CHECK_VALUE(names.insert(parameter.name).second,
                      "cockpit: two parameters are called '",
                      parameter.name,
                      "'; give each a name of its own");
  }
}

// What is kept of a parameter (where it began, where it was a step ago) fits only while it is of
// one kind.
void Cockpit::State::check_unchanged_parameters() const {
  for (size_t p = 0; p < context_.parameters.size(); ++p) {
    const auto& [name, now] = context_.parameters[p];
    const Tensor& first = context_.initial_parameters[p];
    TORCH_CHECK_VALUE(now.sizes() == first.sizes() && now.scalar_type() == first.scalar_type() &&
                          now.device() == first.device(),
                      "watch: parameter '",
                      name,
                      "' is now ",
                      kind_of(now),
                      " but was ",
                      kind_of(first),
                      " when the cockpit was made; make a new cockpit of the new parameters");
  }
}

void Cockpit::State::check_step(int64_t step) const {
  TORCH_CHECK(depth_ == 1,
              "watch: it is called from inside a quantity, a schedule or a sink; call it from the "
              "training loop");
  TORCH_CHECK(!is_finished_, "watch: the run is finished; make a new cockpit for a new run");
  TORCH_CHECK(!current_,
              "watch: step ",
              current_ ? current_->step() : 0,
              " is still being watched; end its watch before step ",
              step);
  TORCH_CHECK_VALUE(step >= 0, "watch: step is ", step, "; count steps from 0");
  TORCH_CHECK_VALUE(!last_step_ || step > *last_step_,
                    "watch: step ",
                    step,
                    " comes after step ",
                    last_step_.value_or(0),
                    "; steps have to ascend, so it is not watched");
}

// ---- what a run is ------------------------------------------------------------------------------

void Cockpit::State::tell_run() {
  if (!info_) {
    info_ = make_run_info(context_.parameters, instruments_);
    info_->grouping = context_.options.grouping.text();
    info_->plan = plan(0).text(instruments_);
  }
  info_->config = config_;
  info_->coverage = coverage_;
  info_->groups.assign(context_.groups.names.begin() + 1, context_.groups.names.end());
  output_.begin(*info_);
}

// Until the graph can be read there is the whole model alone.
void Cockpit::State::find_groups(const Tensor& losses, const WatchOptions& options) {
  if (knows_groups_) return;
  GradientOptions graph;
  graph.batch_norm = BatchNormPolicy::kConstantStatistics;  // only the graph is read
  graph.batch_size = losses.dim() == 0 ? options.batch_size : 0;
  graph.reduction = options.reduction;
  const Grouping& grouping = context_.options.grouping;
  try {
    const Capture capture = capture_graph(losses, context_.parameters, graph);
    context_.groups = make_groups(grouping, context_.parameters, &capture);
  } catch (...) {
    if (context_.options.strict) throw;
    output_.remark(current_->step(),
                   "",
                   "groups by " + grouping.text() + " are not known: " + current_message());
    return;
  }
  knows_groups_ = true;
  tell_run();
}

// ---- failures -----------------------------------------------------------------------------------

void Cockpit::State::switch_off(size_t instrument, int64_t step, const char* pass) {
  instruments_[instrument].is_on = false;
  const std::string message = current_message();
  const auto same = std::find_if(failures_.begin(), failures_.end(), [&](const Failure& other) {
    return other.step == step && other.message == message;
  });
  Failure& failure = same == failures_.end() ? failures_.emplace_back() : *same;
  failure.step = step;
  failure.message = message;
  add_once(failure.quantities, instruments_[instrument].quantity.name());
  if (*pass != '\0') add_once(failure.passes, pass);
}

void Cockpit::State::tell_failures() noexcept {
  try {
    for (const Failure& failure : std::exchange(failures_, {})) {
      if (!output_.has_begun()) tell_run();
      const std::string names = joined(failure.quantities);
      const std::string passes = failure.passes.empty() ? "" : joined(failure.passes) + ": ";
      const bool is_one = failure.quantities.size() == 1;
      output_.note(failure.step, NoteKind::kSwitchedOff, names, passes + failure.message);
      output_.warn(names + " failed at step " + std::to_string(failure.step) + " and " +
                   (is_one ? "is" : "are") + " off from here on: " + passes + failure.message);
    }
  } catch (...) {
    output_.warn("what was switched off could not be told: " + current_message());
  }
}

void Cockpit::State::switch_off_failed(const std::vector<size_t>& instruments, int64_t step) {
  if (context_.options.strict) throw;
  for (size_t k : instruments) {
    if (instruments_[k].is_on) switch_off(k, step, "");
  }
}

Step::OnFailure Cockpit::State::on_failure(int64_t step) {
  return [this, step](const std::function<bool(const StepNeeds&)>& concerns, const char* pass) {
    if (context_.options.strict) throw;
    std::set<size_t> concerned(current_->plan().due.begin(), current_->plan().due.end());
    if (pending_) concerned.insert(pending_->for_line.begin(), pending_->for_line.end());
    for (size_t k : concerned) {
      if (!instruments_[k].is_on || !concerns(instruments_[k].needs())) continue;
      switch_off(k, step, pass);
    }
  };
}

void Cockpit::State::complain(int64_t step) {
  if (context_.options.strict) throw;
  const std::string message = current_message();
  output_.warn_once(message, "step " + std::to_string(step) + " is not watched: " + message);
  if (is_finished_) return;
  if (!output_.has_begun()) tell_run();
  output_.remark(step, "", "not watched: " + message);
}

template <typename Compute>
void Cockpit::State::attempt(size_t instrument, NamedValues& values, const Compute& compute) {
  const std::string& name = instruments_[instrument].quantity.name();
  try {
    const at::NoGradGuard no_grad;
    Value value = compute();
    check_value(name, value, context_.groups);
    if (!value.reason().empty()) output_.remark(last_step_.value_or(0), name, value.reason());
    values.emplace_back(name, std::move(value));
  } catch (...) {
    switch_off_failed({instrument}, last_step_.value_or(0));
  }
}

// ---- a step -------------------------------------------------------------------------------------

bool Cockpit::State::begin_step(int64_t step, const Tensor& losses, const WatchOptions& options) {
  const Call call(*this);
  try {
    check_step(step);
  } catch (...) {
    complain(step);
    return false;
  }
  last_step_ = step;
  try {
    if (pending_ && pending_->step + 1 != step) drop_pending(step);
    Plan plan = make_plan(step, instruments_, ends_line(step), [&](size_t instrument) {
      switch_off_failed({instrument}, step);
    });
    if (plan.is_empty() && !pending_) return false;
    check_unchanged_parameters();
    if (!output_.has_begun()) tell_run();
    static const std::vector<Tensor> none;
    const std::vector<Tensor>& update = pending_ ? complete_update(plan) : none;
    if (!pending_ && plan.update) tracker_.remember();
    if (plan.is_empty()) {
      publish({}, std::nullopt);
      return false;
    }
    current_ = std::make_unique<Step>(context_, std::move(plan), losses, options);
    find_groups(losses, options);
    current_->begin(update, on_failure(step));
    return true;
  } catch (...) {
    give_up_step();
    complain(step);
    return false;
  }
}

// What is known of the step before is not lost with this one.
void Cockpit::State::give_up_step() {
  current_.reset();
  try {
    if (pending_) publish({}, std::nullopt);
  } catch (...) {
    // Why this step failed is told by whoever gives it up.
  }
  pending_.reset();
}

void Cockpit::State::drop_pending(int64_t step) {
  output_.remark(step,
                 "",
                 "what the optimizer did after step " + std::to_string(pending_->step) +
                     " is not known: step " + std::to_string(pending_->step + 1) +
                     " was not watched; call watch at every step");
  pending_.reset();
}

const std::vector<Tensor>& Cockpit::State::complete_update(Plan& plan) {
  Pending& pending = *pending_;
  std::vector<Tensor> squares;
  const std::vector<Tensor>& updates = tracker_.take(squares, plan.update);
  const Update update(
      pending.step, context_.groups, tracker_, sum_by_group(squares, context_.groups));
  for (size_t k : pending.for_update) {
    if (!instruments_[k].is_on) continue;
    attempt(k, pending.values, [&] { return instruments_[k].functions.after_update(update); });
  }
  pending.squared_length = update.squared_update()[0];
  if (!plan.ends_line) return updates;
  try {
    pending.start.slopes =
        mean_and_variance(pending.rows->dots(as_directions(updates)).select(1, 0));
  } catch (...) {
    switch_off_failed(pending.for_line, plan.step);
    pending.for_line.clear();
    plan.ends_line = false;
  }
  pending.rows.reset();
  return updates;
}

void Cockpit::State::end_step(int64_t step) {
  const Call call(*this);
  if (!is_watching(step)) return;
  try {
    if (!current_->finish(on_failure(step))) {
      TORCH_CHECK(false,
                  "watch: no backward pass went through the losses of step ",
                  step,
                  "; call backward() on a loss computed from them before the watch ends");
    }
    NamedValues values;
    compute_values(values);
    std::optional<LineEnd> line_end;
    if (current_->plan().ends_line && current_->has_gradients()) line_end = current_->line_end();
    publish(values, line_end);
    leave_pending();
    take_remarks();
    current_.reset();
  } catch (...) {
    give_up_step();
    complain(step);
  }
}

void Cockpit::State::compute_values(NamedValues& values) {
  for (size_t k : current_->plan().due) {
    const auto& compute = instruments_[k].functions.compute;
    if (!instruments_[k].is_on || !compute) continue;
    // The pass failed and switched off others: this one's value is lost for this step alone.
    if (!current_->has_gradients() && needs_gradients(instruments_[k].needs())) continue;
    attempt(k, values, [&] { return compute_with_remedy(compute, *current_); });
  }
}

// Everything of this step and the step before, after one transfer from the device.
void Cockpit::State::publish(const NamedValues& values, const std::optional<LineEnd>& line_end) {
  static const NamedValues none;
  const NamedValues& late = pending_ ? pending_->values : none;
  std::vector<Tensor> tensors = tensors_of(values);
  const size_t late_begin = tensors.size();
  for (Tensor& tensor : tensors_of(late)) tensors.push_back(std::move(tensor));
  const size_t length_at = tensors.size();
  if (pending_ && pending_->squared_length.defined()) tensors.push_back(pending_->squared_length);
  const size_t line_begin = tensors.size();
  if (line_end) {
    for (const Tensor& tensor :
         {pending_->start.losses, pending_->start.slopes, line_end->losses, line_end->slopes}) {
      tensors.push_back(tensor);
    }
  }
  const std::vector<Tensor> fetched = fetch(tensors);
  const double now = wall_time();
  const int64_t step = last_step_.value_or(0);
  std::vector<Reading> own = readings_of(values, fetched, context_.groups);
  for (const Reading& reading : own) {
    if (reading.field == kRoundingField) output_.remark(step, reading.quantity, kRoundingRemark);
  }
  output_.write({step, now, std::move(own)});
  if (!pending_) return;
  std::vector<Reading> readings =
      readings_of(late,
                  std::vector<Tensor>(fetched.begin() + late_begin, fetched.begin() + length_at),
                  context_.groups);
  const double length = length_at < line_begin ? std::sqrt(fetched[length_at].item<double>()) : NAN;
  if (length == 0) output_.remark(pending_->step, "", kStandstill);
  if (line_end) {
    const LineView line =
        line_view(*pending_,
                  *line_end,
                  length,
                  std::vector<Tensor>(fetched.begin() + line_begin, fetched.end()));
    NamedValues line_values;
    for (size_t k : pending_->for_line) {
      if (!instruments_[k].is_on) continue;
      attempt(k, line_values, [&] { return instruments_[k].functions.after_next(line); });
    }
    for (Reading& reading :
         readings_of(line_values, fetch(tensors_of(line_values)), context_.groups)) {
      readings.push_back(std::move(reading));
    }
  }
  output_.write({pending_->step, now, std::move(readings)});
  pending_.reset();
}

void Cockpit::State::leave_pending() {
  const Plan& plan = current_->plan();
  if (!plan.update) return;
  Pending pending;
  pending.step = plan.step;
  for (size_t k : plan.due) {
    const Instrument& instrument = instruments_[k];
    if (!instrument.is_on) continue;
    if (instrument.functions.after_update) pending.for_update.push_back(k);
    if (instrument.functions.after_next) pending.for_line.push_back(k);
  }
  if (!pending.for_line.empty()) {
    try {
      pending.start = current_->line_start();
      pending.rows = current_->gradients().rows;
    } catch (...) {
      switch_off_failed(pending.for_line, plan.step);
      pending.for_line.clear();
    }
  }
  if (!pending.for_update.empty() || !pending.for_line.empty()) pending_ = std::move(pending);
}

void Cockpit::State::take_remarks() {
  for (const std::string& text : current_->remarks()) {
    output_.remark(current_->step(), "", text);
  }
  if (!current_->has_gradients()) return;
  warn_of_lost_parameters();
  if (coverage_.empty() && current_->plan().asks_rows()) {
    coverage_ = current_->gradients().coverage.text();
    tell_run();
  }
}

// A parameter that the model no longer uses (replaced, frozen) goes on to count, with zeros.
void Cockpit::State::warn_of_lost_parameters() {
  const std::vector<ParameterCoverage>& covered = current_->gradients().coverage.parameters;
  took_part_.resize(covered.size());
  for (size_t p = 0; p < covered.size(); ++p) {
    const bool takes_part = covered[p].level != CoverageLevel::kUnused;
    if (took_part_[p] && !takes_part) {
      const std::string matter = "parameter '" + covered[p].name + "' had a part in the losses";
      const bool is_frozen = !context_.parameters[p].tensor.requires_grad();
      const std::string text =
          matter + " and has none any more" +
          (is_frozen ? " (it does not require gradients now)" : "") +
          "; its gradients count as zero. If it was replaced, make a new cockpit of the new "
          "parameters";
      output_.warn_once(matter, "step " + std::to_string(current_->step()) + ": " + text);
      output_.remark(current_->step(), "", text);
    }
    took_part_[p] = took_part_[p] || takes_part;
  }
}

void Cockpit::State::abandon_step(int64_t step) {
  const Call call(*this);
  if (!is_watching(step)) return;
  output_.remark(step, "", "the step ended by an exception; its values are dropped");
  give_up_step();
}

void Cockpit::State::log(int64_t step, const std::map<std::string, double>& values) {
  const Call call(*this);
  TORCH_CHECK(!is_finished_, "log: the run is finished; make a new cockpit for a new run");
  StepReadings readings;
  readings.step = step;
  readings.time = wall_time();
  for (const auto& [name, value] : values) {
    for (const Instrument& instrument : instruments_) {
      TORCH_CHECK_VALUE(instrument.quantity.name() != name,
                        "log: '",
                        name,
                        "' is the name of a quantity of this cockpit; choose another");
    }
    Reading reading;
    reading.quantity = name;
    reading.number = value;
    readings.readings.push_back(std::move(reading));
  }
  if (!output_.has_begun()) tell_run();
  output_.write(readings);
}

void Cockpit::State::finish(Ending ending) {
  const Call call(*this);
  if (!ending_) ending_ = ending;
}

void Cockpit::State::end_run_if_asked() noexcept {
  if (!ending_ || is_finished_) return;
  try {
    if (!output_.has_begun()) tell_run();
    if (current_) {
      output_.remark(current_->step(),
                     "",
                     "the run ended while this step was being watched; its values are dropped");
    }
    is_finished_ = true;
    give_up_step();
    output_.finish(*ending_);
  } catch (...) {
    is_finished_ = true;
    output_.warn("the run could not be ended: " + current_message());
  }
}

// ---- the public face ----------------------------------------------------------------------------

StepWatch::StepWatch(StepWatch&& other) noexcept
    : cockpit_(std::exchange(other.cockpit_, {})),
      step_(other.step_),
      exceptions_(other.exceptions_) {}

void StepWatch::end() {
  if (const auto cockpit = std::exchange(cockpit_, {}).lock()) cockpit->end_step(step_);
}

StepWatch::~StepWatch() noexcept(false) {
  if (std::uncaught_exceptions() <= exceptions_) {
    end();
  } else if (const auto cockpit = cockpit_.lock()) {
    cockpit->abandon_step(step_);
  }
}

bool StepWatch::is_active() const {
  const auto cockpit = cockpit_.lock();
  return cockpit && cockpit->is_watching(step_);
}

Cockpit::Cockpit(const Parameters& parameters,
                 std::vector<Quantity> quantities,
                 CockpitOptions options)
    : state_(std::make_shared<State>(
          without_further_names(parameters), std::move(quantities), std::move(options))) {}

Cockpit::Cockpit(const Parameters& parameters, const std::string& preset, CockpitOptions options)
    : Cockpit(parameters, flightdeck::preset(preset), std::move(options)) {}

Cockpit::~Cockpit() {
  state_->finish(std::uncaught_exceptions() > 0 ? Ending::kFailed : Ending::kFinished);
}

void Cockpit::add(Quantity quantity) { state_->add(std::move(quantity)); }
void Cockpit::add_sink(std::shared_ptr<Sink> sink) { state_->add_sink(std::move(sink)); }
void Cockpit::describe(const std::string& key, const std::string& value) {
  state_->describe(key, value);
}

StepWatch Cockpit::watch(int64_t step, const Tensor& losses, const WatchOptions& options) {
  const int exceptions = std::uncaught_exceptions();
  const std::weak_ptr<State> state = state_;
  const bool is_watched = state_->begin_step(step, losses, options);
  return StepWatch(is_watched ? state : std::weak_ptr<State>(), step, exceptions);
}

void Cockpit::log(int64_t step, const std::string& name, double value) {
  state_->log(step, {{name, value}});
}
void Cockpit::log(int64_t step, const std::map<std::string, double>& values) {
  state_->log(step, values);
}

std::map<std::string, Tensor> Cockpit::save() const { return state_->save(); }
void Cockpit::load(const std::map<std::string, Tensor>& saved) { state_->load(saved); }

const CockpitOptions& Cockpit::options() const { return state_->options(); }
bool Cockpit::is_due(int64_t step) const { return state_->is_due(step); }
std::string Cockpit::plan(int64_t step) const { return state_->plan_text(step); }
void Cockpit::finish(Ending ending) { state_->finish(ending); }

}  // namespace flightdeck
