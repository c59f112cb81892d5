#include "core/calib/in_parts.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "core/base/error.h"
#include "core/calib/course.h"
#include "core/calib/parts.h"

namespace mlopt {
namespace {

using Names = std::vector<std::string>;

bool holds(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class PartByPart final : public Executable {
 public:
  PartByPart(std::shared_ptr<Backend> backend, const Model& model, const CompileOptions& options, int64_t bytes)
      : backend_(std::move(backend)), model_(clone(model)), options_(options), bytes_(bytes) {
    for (const Value* v : model.graph->inputs())
      if (!v->constant) input_names_.push_back(v->name);
    for (const Value* v : model.graph->outputs()) output_names_.push_back(v->name);
  }

  std::vector<Datum> run(std::span<const Datum> inputs, const RunHooks& hooks) override {
    if (inputs.size() != input_names_.size())
      input_error("the model has another number of inputs", {}, "give each input that the model declares");
    Names watched = output_names_;
    if (hooks.on_tap) watched.insert(watched.end(), options_.taps.begin(), options_.taps.end());
    std::map<std::string, Datum> outputs;
    const auto look = [&](const std::string& name, const Datum& value) {
      if (holds(output_names_, name)) outputs.emplace(name, value);
      if (hooks.on_tap && holds(options_.taps, name)) hooks.on_tap(name, value);
    };
    Course course(model_, watched, {*backend_, {}, options_}, {});
    for (const int64_t end : course.ends_of_parts(bytes_)) {
      course.begin_part(end, end < course.end());
      note(course.fallback_nodes());
      course.run(
          0,
          [&] {
            return Batch{{inputs.begin(), inputs.end()}, {}};
          },
          look);
      course.end_part();
    }
    std::vector<Datum> found;
    for (const Value* v : model_.graph->outputs())
      found.push_back(v->constant ? Datum(*v->constant) : outputs.at(v->name));
    return found;
  }

  const Names& input_names() const override { return input_names_; }
  const Names& output_names() const override { return output_names_; }
  /// Those of the parts that have run.
  const Names& fallback_nodes() const override { return fallback_; }
  std::vector<StepProfile> profile() const override { return {}; }

 private:
  void note(const Names& nodes) {
    const std::lock_guard lock(mutex_);
    for (const std::string& node : nodes)
      if (!holds(fallback_, node)) fallback_.push_back(node);
  }

  std::shared_ptr<Backend> backend_;
  Model model_;
  CompileOptions options_;
  int64_t bytes_;
  Names input_names_, output_names_, fallback_;
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
