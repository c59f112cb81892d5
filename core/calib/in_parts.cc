#include "core/calib/in_parts.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "core/base/error.h"
#include "core/calib/parts.h"

namespace mlopt {
namespace {

using Names = std::vector<std::string>;

/// A part, and which values are still to be read when it has run.
struct Part {
  Model model;
  CompileOptions options;
  Names kept;
};

bool holds(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class PartByPart final : public Executable {
 public:
  PartByPart(std::shared_ptr<Backend> backend, const Model& model, const CompileOptions& options, int64_t bytes)
      : backend_(std::move(backend)), options_(options) {
    for (const Value* v : model.graph->inputs())
      if (!v->constant) input_names_.push_back(v->name);
    for (const Value* v : model.graph->outputs()) output_names_.push_back(v->name);
    Names watched = output_names_;
    watched.insert(watched.end(), options.taps.begin(), options.taps.end());
    std::vector<const Node*> ends = part_starts(model, bytes);
    ends.push_back(nullptr);
    Names from = input_names_;
    for (const Node* end : ends) {
      Names to = end ? values_before(model, *end) : Names(), wanted = to;
      for (const Value* v : made_before(*model.graph, end))
        if (holds(watched, v->name) && !holds(wanted, v->name)) wanted.push_back(v->name);
      std::erase_if(wanted, [&](const std::string& name) { return made_.contains(name) || holds(from, name); });
      add_part(model, from, wanted, to);
      from = std::move(to);
    }
  }

  std::vector<Datum> run(std::span<const Datum> inputs, const RunHooks& hooks) override {
    if (inputs.size() != input_names_.size())
      input_error("the model has another number of inputs", {}, "give each input that the model declares");
    Values values;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (hooks.on_tap && holds(options_.taps, input_names_[i])) hooks.on_tap(input_names_[i], inputs[i]);
      values.emplace(input_names_[i], inputs[i]);
    }
    for (const Part& part : parts_) {
      run_part(part, values, hooks);
      std::erase_if(values, [&](const auto& entry) { return !holds(part.kept, entry.first); });
    }
    std::vector<Datum> outputs;
    for (const std::string& name : output_names_) outputs.push_back(values.at(name));
    return outputs;
  }

  const std::vector<std::string>& input_names() const override { return input_names_; }
  const std::vector<std::string>& output_names() const override { return output_names_; }
  /// Those of the parts that have run.
  const std::vector<std::string>& fallback_nodes() const override { return fallback_; }
  std::vector<StepProfile> profile() const override { return {}; }

 private:
  using Values = std::map<std::string, Datum, std::less<>>;

  /// What nodes before `end` (null: all) make, and constants.
  static std::vector<const Value*> made_before(const Graph& graph, const Node* end) {
    std::vector<const Value*> made;
    for (const Value* v : graph.initializers()) made.push_back(v);
    for (const Node* node = graph.next(nullptr); node != end; node = graph.next(node))
      for (const Value* v : node->outputs())
        if (v) made.push_back(v);
    return made;
  }

  /// `to` is what those behind it read.
  void add_part(const Model& model, const Names& from, const Names& wanted, const Names& to) {
    made_.insert(wanted.begin(), wanted.end());
    if (wanted.empty()) return;
    Part part{part_between(model, from, wanted), options_, {}};
    if (!options_.taps.empty()) part.options.taps = wanted;  // so that it is compiled as the whole would be
    part.kept = to;
    part.kept.insert(part.kept.end(), output_names_.begin(), output_names_.end());
    parts_.push_back(std::move(part));
  }

  void run_part(const Part& part, Values& values, const RunHooks& hooks) {
    const std::unique_ptr<Executable> plan = backend_->compile(part.model, part.options);
    std::vector<Datum> given;
    for (const std::string& name : plan->input_names()) given.push_back(values.at(name));
    RunHooks own;
    own.on_tap = [&](std::string_view name, const Datum& value) {
      if (hooks.on_tap && holds(options_.taps, std::string(name))) hooks.on_tap(name, value);
    };
    std::vector<Datum> made = plan->run(given, own);
    for (size_t i = 0; i < made.size(); ++i) values.insert_or_assign(plan->output_names()[i], std::move(made[i]));
    const std::lock_guard lock(mutex_);
    for (const std::string& node : plan->fallback_nodes())
      if (!holds(fallback_, node)) fallback_.push_back(node);
  }

  std::shared_ptr<Backend> backend_;
  CompileOptions options_;
  Names input_names_, output_names_, fallback_;
  std::set<std::string> made_;
  std::vector<Part> parts_;
  std::mutex mutex_;
};

class InParts final : public Backend {
 public:
  InParts(std::unique_ptr<Backend> backend, int64_t bytes) : backend_(std::move(backend)), bytes_(bytes) {}

  std::string_view name() const override { return backend_->name(); }

  std::unique_ptr<Executable> compile(const Model& model, const CompileOptions& options) override {
    if (options.state || options.profile || part_starts(model, bytes_).empty())
      return backend_->compile(model, options);
    return std::make_unique<PartByPart>(backend_, model, options, bytes_);
  }

 private:
  std::shared_ptr<Backend> backend_;
  int64_t bytes_;
};

}  // namespace

std::unique_ptr<Backend> in_parts(std::unique_ptr<Backend> backend, int64_t bytes) {
  return std::make_unique<InParts>(std::move(backend), bytes);
}

}  // namespace mlopt
