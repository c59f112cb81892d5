#include "core/exec/interpreter.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/text.h"
#include "core/exec/deciding_inputs.h"
#include "core/exec/graph_input.h"
#include "core/exec/known_plans.h"
#include "core/exec/listed.h"
#include "core/exec/pieces.h"
#include "core/exec/plan.h"
#include "core/exec/program.h"
#include "core/exec/watched.h"
#include "core/exec/weight_cache.h"
#include "core/ir/bind.h"

namespace mlopt {
namespace {

class Interpreter : public Executable {
 public:
  Interpreter(const Model& model, const CompileOptions& options, std::span<const KernelList> lists, TypeRule types,
              Specialize specialize, MakePlan make_plan);

  std::vector<Datum> run(std::span<const Datum> inputs, const RunHooks& hooks) override;
  const std::vector<std::string>& input_names() const override { return input_names_; }
  const std::vector<std::string>& output_names() const override { return output_names_; }
  const std::vector<std::string>& fallback_nodes() const override { return fallback_; }
  std::vector<StepProfile> profile() const override;
  std::optional<PlanInfo> plan_info(std::span<const Datum> inputs) override;

 private:
  ProgramContext context();
  void keep(ProgramContext&& context);
  void compile_program();
  KnownPlans::Known plan_shapes(const std::vector<Dims>& shapes, std::vector<std::optional<Tensor>> values = {});
  KnownPlans::Known plan_for(std::span<const Datum> inputs);  ///< null: there is no plan
  std::vector<Datum> run_plan(const KnownPlan& known, std::span<const Datum> inputs, const RunContext& context);
  std::vector<Datum> run_node_by_node(std::span<const Datum> inputs, const RunContext& context);

  Model model_;  // nodes that steps look at
  TypeRule types_;
  Specialize specialize_;
  MakePlan make_plan_;
  CompileOptions options_;
  std::vector<std::vector<Kernel>> kernels_;  ///< behind lists_
  std::vector<KernelList> lists_;
  std::unique_ptr<Program> program_;  ///< null until something has to run node by node
  std::mutex program_mutex_;
  bool plans_allowed_;
  KnownPlans plans_;
  std::vector<std::string> input_names_, output_names_, fallback_;
  /// A plan that runs in pieces has no output as a whole before the end; one with state does not.
  bool may_announce(const RunHooks& hooks) const { return !hooks.on_ready || options_.state; }
  void check_inputs(std::span<const Datum> given) const;
  std::vector<Datum> with_state(std::span<const Datum> given) const;

  std::vector<GraphInput> inputs_;
  std::vector<bool> deciding_;  ///< of inputs_; empty: none is
  mutable std::mutex profile_mutex_;
  std::vector<StepProfile> steps_;
};

/// A value that must be whole has no place in an arena, where another may lie.
bool may_plan(const CompileOptions& options, std::span<const KernelList> lists) {
  if (!options.taps.empty() && !options.taps_unordered) return false;
  return std::any_of(lists.begin(), lists.end(), [](const KernelList& list) {
    return std::any_of(list.kernels.begin(), list.kernels.end(), [](const Kernel& k) { return k.plan != nullptr; });
  });
}

Interpreter::Interpreter(const Model& model, const CompileOptions& options, std::span<const KernelList> lists,
                         TypeRule types, Specialize specialize, MakePlan make_plan)
    : model_(clone(model)),
      types_(types),
      specialize_(std::move(specialize)),
      make_plan_(std::move(make_plan)),
      options_(options),
      plans_allowed_(make_plan_ || may_plan(options, lists)) {
  if (options_.threads <= 0) options_.threads = max_threads();
  if (!options_.weights) options_.weights = std::make_shared<WeightCache>();
  for (const KernelList& list : lists) kernels_.emplace_back(list.kernels.begin(), list.kernels.end());
  for (size_t i = 0; i < lists.size(); ++i) lists_.push_back({lists[i].backend, kernels_[i], lists[i].reorder});
  std::vector<Dims> shapes;
  bool known = plans_allowed_;
  for (const Value* v : model_.graph->inputs()) {
    if (v->constant) continue;
    const bool is_state = options_.state && options_.state->has(v->name);
    inputs_.push_back({v->name, v->type, is_state});
    if (!is_state) input_names_.push_back(v->name);
    const auto dims = v->type.static_dims();
    known = known && v->type.is_tensor() && dims && (!make_plan_ || element_count(*dims) > 0);
    shapes.push_back(dims.value_or(Dims{}));
  }
  for (const Value* v : model_.graph->outputs())
    if (!find_update(options_.updates, v->name)) output_names_.push_back(v->name);
  if (make_plan_ && options_.taps.empty()) deciding_ = deciding_inputs(*model_.graph);
  known = known && std::find(deciding_.begin(), deciding_.end(), true) == deciding_.end();
  if (known)
    plans_.add(plan_shapes(shapes));
  else if (!make_plan_)
    compile_program();
}

ProgramContext Interpreter::context() {
  ProgramContext context{&model_, &options_, lists_, {}, {}, {}, steps_, types_, !plans_allowed_};
  context.kernel = {.threads = options_.threads,
                    .precision = options_.precision,
                    .weights = options_.weights.get(),
                    .mean_over_ranks = options_.mean_over_ranks,
                    .host_traffic = options_.host_traffic};
  return context;
}

void Interpreter::keep(ProgramContext&& context) {
  if (options_.profile) steps_ = std::move(context.steps);
  fallback_ = std::move(context.fallback);
  if (context.unsupported.empty()) return;
  const std::string_view device = lists_.empty() ? "" : lists_[0].backend;
  unsupported_error(fmt::format("{} cannot run {}", device, listed(context.unsupported)), model_.path,
                    "use another device, or replace these operators");
}

void Interpreter::compile_program() {
  const std::lock_guard lock(profile_mutex_);
  ProgramContext made = context();
  with_threads(options_.threads, [&] { program_ = std::make_unique<Program>(*model_.graph, made); });
  keep(std::move(made));
}

KnownPlans::Known Interpreter::plan_shapes(const std::vector<Dims>& shapes, std::vector<std::optional<Tensor>> values) {
  Model bound = clone(model_);
  fix_inputs(bound, values);
  bind_input_shapes(bound, undecided<Dims>(shapes, values), types_);
  auto known = std::make_shared<KnownPlan>();
  known->shapes = shapes;
  known->values = std::move(values);
  if (!options_.state && !make_plan_) known->pieces = choose_pieces(model_, bound, shapes, options_.threads, types_);
  const bool watched = !make_plan_ && !options_.taps.empty();
  if (watched && !watch(*bound.graph, options_.taps)) return known;
  if (specialize_) specialize_(bound, types_);
  const std::lock_guard lock(profile_mutex_);
  ProgramContext made = context();
  with_threads(options_.threads, [&] {
    Plan::Parts parts = plan_model(std::move(bound), made);
    keep(std::move(made));
    if (watched && may_be_given_up(parts)) return;  // what was seen would be seen again
    known->plan = make_plan_ ? make_plan_(std::move(parts), options_) : std::make_unique<const Plan>(std::move(parts));
  });
  return known;
}

KnownPlans::Known Interpreter::plan_for(std::span<const Datum> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].is_tensor() || inputs[i].tensor().dtype() != inputs_[i].type.dtype) return nullptr;
  const KnownPlans::Known known = plans_.get(inputs, [&] {
    std::vector<Dims> shapes;
    for (const Datum& input : inputs) shapes.push_back(input.tensor().dims());
    return plan_shapes(shapes, deciding_.empty() ? std::vector<std::optional<Tensor>>() : decisions(inputs, deciding_));
  });
  return known->plan ? known : nullptr;
}

void Interpreter::check_inputs(std::span<const Datum> given) const {
  if (given.size() != input_names_.size())
    input_error(fmt::format("{} inputs given, the model has {}", given.size(), input_names_.size()),
                join(input_names_, ", "), kGiveWhatItTakes);
  auto next = given.begin();
  for (const GraphInput& input : inputs_)
    if (!input.is_state) check_input(input, *next++);
}

/// What the graph's inputs are: those given, and the state.
std::vector<Datum> Interpreter::with_state(std::span<const Datum> given) const {
  std::vector<Datum> all;
  auto next = given.begin();
  for (const GraphInput& input : inputs_) {
    if (!input.is_state) {
      all.push_back(*next++);
      continue;
    }
    const Tensor& value = options_.state->on_host(input.name);
    if (make_plan_) {  // the device has a copy of its own
      all.emplace_back(value);
      continue;
    }
    all.emplace_back(
        Tensor::view(value.dtype(), value.dims(), {options_.state->bytes(input.name), value.bytes()}, nullptr));
  }
  return all;
}

std::vector<Datum> Interpreter::run(std::span<const Datum> given, const RunHooks& hooks) {
  if (options_.threads != max_threads()) {
    std::vector<Datum> outputs;
    with_threads(options_.threads, [&] { outputs = run(given, hooks); });
    return outputs;
  }
  const RunContext context{&hooks, options_.seed, options_.profile ? &steps_ : nullptr, &profile_mutex_};
  try {
    check_inputs(given);
    const std::vector<Datum> all = options_.state ? with_state(given) : std::vector<Datum>();
    const std::span<const Datum> inputs = options_.state ? std::span(all) : given;
    if (options_.one_size_per_name) check_names(inputs_, inputs);
    const KnownPlans::Known known = plans_allowed_ && may_announce(hooks) ? plan_for(inputs) : nullptr;
    if (!known) return run_node_by_node(inputs, context);
    try {
      return run_plan(*known, inputs, context);
    } catch (const ShapeSurprise&) {  // such inputs run node by node from now on
      plans_.forget(known);
      return run_node_by_node(inputs, context);
    }
  } catch (const Error& e) {
    if (e.code == Code::kInternal || model_.path.empty()) throw;
    throw Error(e.code, e.message, e.where.empty() ? model_.path : fmt::format("{} of {}", e.where, model_.path),
                e.fix);
  }
}

/// Where there is too little memory, plans that were used longest ago make room.
std::vector<Datum> Interpreter::run_plan(const KnownPlan& known, std::span<const Datum> inputs,
                                         const RunContext& context) {
  while (true) {
    try {
      if (!known.values.empty()) return known.plan->run(undecided<Datum>(inputs, known.values), context);
      return run_pieces(*known.plan, known.pieces, inputs, context);
    } catch (const NoRoom&) {
      if (!plans_.drop_idle()) throw;
    }
  }
}

std::vector<Datum> Interpreter::run_node_by_node(std::span<const Datum> inputs, const RunContext& context) {
  if (make_plan_) refuse_unplanned(*model_.graph, inputs_, inputs, lists_[0].backend);
  {
    const std::lock_guard lock(program_mutex_);
    if (!program_) compile_program();
  }
  const std::vector<Datum> made = program_->run(inputs, {}, context);
  std::vector<Datum> outputs;
  for (size_t i = 0; i < made.size(); ++i) {
    const StateUpdate* update = find_update(options_.updates, model_.graph->outputs()[i]->name);
    if (update)
      options_.state->set(update->state, made[i].tensor());
    else
      outputs.push_back(made[i]);
  }
  return outputs;
}

std::vector<StepProfile> Interpreter::profile() const {
  const std::lock_guard lock(profile_mutex_);
  std::vector<StepProfile> ran;
  for (const StepProfile& step : steps_)
    if (step.calls > 0) ran.push_back(step);
  return ran;
}

std::optional<PlanInfo> Interpreter::plan_info(std::span<const Datum> inputs) {
  check_inputs(inputs);
  const KnownPlans::Known known = plans_allowed_ ? plan_for(with_state(inputs)) : nullptr;
  if (!known) return std::nullopt;
  PlanInfo info = known->plan->info();
  const int64_t pieces = known->pieces.count;
  if (pieces > 1)
    info.steps.insert(info.steps.begin(), {StepInfo{"", "Batch", fmt::format("in {} pieces", pieces)}, true, true});
  return info;
}

}  // namespace

std::unique_ptr<Executable> compile_interpreter(const Model& model, const CompileOptions& options,
                                                std::span<const KernelList> lists, TypeRule types,
                                                Specialize specialize, MakePlan make_plan) {
  return std::make_unique<Interpreter>(model, options, lists, types, std::move(specialize), std::move(make_plan));
}

}  // namespace mlopt
