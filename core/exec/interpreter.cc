#include "core/exec/interpreter.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/text.h"
#include "core/exec/program.h"

namespace mlopt {
namespace {

constexpr const char* kGiveWhatItTakes = "give each input the type and the sizes that the model declares";

/// Names of nodes, the first few of many.
std::string listed(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  const std::span<const std::string> all(names);
  std::string text = join(all.subspan(0, std::min(kShown, all.size())), ", ");
  return names.size() > kShown ? fmt::format("{} and {} more", text, names.size() - kShown) : text;
}

class Interpreter : public Executable {
 public:
  Interpreter(const Model& model, const CompileOptions& options, std::span<const KernelList> lists);

  std::vector<Datum> run(std::span<const Datum> inputs, const RunHooks& hooks) override;
  const std::vector<std::string>& input_names() const override { return input_names_; }
  const std::vector<std::string>& output_names() const override { return output_names_; }
  const std::vector<std::string>& fallback_nodes() const override { return fallback_; }
  std::vector<StepProfile> profile() const override;
  Tensor state(std::string_view name) const override { return resident(name).tensor(); }
  void set_state(std::string_view name, Tensor value) override;

 private:
  Datum& resident(std::string_view name) const;
  void check_inputs(std::span<const Datum> inputs) const;
  void check_input(size_t i, const Datum& input) const;

  Model model_;  // nodes that steps look at
  CompileOptions options_;
  std::unique_ptr<Program> program_;
  std::vector<std::string> input_names_, output_names_, fallback_;
  std::vector<Type> input_types_;
  mutable std::mutex profile_mutex_;
  std::vector<StepProfile> steps_;
};

Interpreter::Interpreter(const Model& model, const CompileOptions& options, std::span<const KernelList> lists)
    : model_(clone(model)), options_(options) {
  if (options_.threads <= 0) options_.threads = omp_get_max_threads();
  const ThreadScope threads(options_.threads);
  ProgramContext context{&model_, &options_, lists, {}, {}, {}, {}};
  context.kernel = {options_.threads, options_.precision, options_.weights_mutable || !options_.state.empty()};
  program_ = std::make_unique<Program>(*model_.graph, context);
  if (!context.unsupported.empty()) {
    const std::string_view device = lists.empty() ? "" : lists[0].backend;
    unsupported_error(fmt::format("{} cannot run {}", device, listed(context.unsupported)), model.path,
                      "use another device, or replace these operators");
  }
  for (const Value* v : model_.graph->inputs()) {
    if (v->constant) continue;
    input_names_.push_back(v->name);
    input_types_.push_back(v->type);
  }
  for (const Value* v : model_.graph->outputs()) output_names_.push_back(v->name);
  fallback_ = std::move(context.fallback);
  steps_ = std::move(context.steps);
}

void Interpreter::check_inputs(std::span<const Datum> inputs) const {
  if (inputs.size() != input_types_.size())
    input_error(fmt::format("{} inputs given, the model has {}", inputs.size(), input_types_.size()),
                join(input_names_, ", "), kGiveWhatItTakes);
  for (size_t i = 0; i < inputs.size(); ++i) check_input(i, inputs[i]);
}

void Interpreter::check_input(size_t i, const Datum& input) const {
  const Type& type = input_types_[i];
  if (!type.is_tensor()) return;
  if (!input.is_tensor()) input_error("input is not a tensor", fmt::format("'{}'", input_names_[i]), kGiveWhatItTakes);
  const Tensor& t = input.tensor();
  const auto wrong = [&] {
    input_error("input does not fit the model",
                fmt::format("'{}' is {} {}, the model has {}", input_names_[i], name(t.dtype()), to_string(t.dims()),
                            to_string(type)),
                kGiveWhatItTakes);
  };
  if (type.dtype != DType::kUndefined && t.dtype() != type.dtype) wrong();
  if (!type.dims) return;
  if (type.dims->size() != t.dims().size()) wrong();
  // Free dimensions of one name may differ: exporters reuse names, so only the operators judge.
  for (size_t k = 0; k < type.dims->size(); ++k)
    if (const auto fixed = (*type.dims)[k].value(); fixed && *fixed != t.dims()[k]) wrong();
}

std::vector<Datum> Interpreter::run(std::span<const Datum> inputs, const RunHooks& hooks) {
  const ThreadScope threads(options_.threads);
  const RunContext context{&hooks, options_.seed, options_.profile ? &steps_ : nullptr, &profile_mutex_};
  try {
    check_inputs(inputs);
    return program_->run(inputs, {}, context);
  } catch (const Error& e) {
    if (e.code == Code::kInternal || model_.path.empty()) throw;
    throw Error(e.code, e.message, e.where.empty() ? model_.path : fmt::format("{} of {}", e.where, model_.path),
                e.fix);
  }
}

std::vector<StepProfile> Interpreter::profile() const {
  const std::lock_guard lock(profile_mutex_);
  return options_.profile ? steps_ : std::vector<StepProfile>{};
}

Datum& Interpreter::resident(std::string_view name) const {
  const bool declared = std::find(options_.state.begin(), options_.state.end(), name) != options_.state.end();
  Datum* found = declared ? program_->resident(name) : nullptr;
  if (!found) internal_error("not a state value of this plan", std::string(name));
  return *found;
}

void Interpreter::set_state(std::string_view name, Tensor value) {
  Datum& slot = resident(name);
  if (value.dtype() != slot.tensor().dtype() || value.dims() != slot.tensor().dims())
    internal_error("a state value keeps its type and shape", std::string(name));
  slot = value.aligned();
}

}  // namespace

std::unique_ptr<Executable> compile_interpreter(const Model& model, const CompileOptions& options,
                                                std::span<const KernelList> lists) {
  return std::make_unique<Interpreter>(model, options, lists);
}

}  // namespace mlopt
