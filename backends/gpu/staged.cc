#include "backends/gpu/staged.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "core/base/error.h"
#include "core/exec/deciding_inputs.h"
#include "core/ir/bind.h"
#include "core/ir/middle.h"
#include "core/rewrite/extract.h"
#include "core/rewrite/inline_if.h"
#include "core/rewrite/lower/passes.h"

namespace mlopt::gpu {
namespace {

bool is_cut(const Node& node) { return node.is("FirstRows", "mlopt"); }

/// The first *count rows along an axis.
Tensor first_rows(const Tensor& all, const Tensor& count, size_t axis) {
  const int64_t rows = *count.data<int64_t>();
  if (axis >= all.dims().size() || rows < 0 || rows > all.dims()[axis])
    internal_error("FirstRows: more than there are");
  const Middle m = around(all.dims(), axis, axis + 1);
  Dims dims = all.dims();
  dims[axis] = rows;
  Tensor made(all.dtype(), dims);
  const size_t row = static_cast<size_t>(m.inner) * static_cast<size_t>(bits(all.dtype()) / 8);
  for (int64_t o = 0; o < m.outer; ++o)
    std::memcpy(made.mutable_raw() + static_cast<size_t>(o * rows) * row,
                all.raw() + static_cast<size_t>(o * m.length) * row, static_cast<size_t>(rows) * row);
  return made;
}

/// Which stage values belong to: what is given, and what is made of that without FirstRows, to the first.
class Levels {
 public:
  explicit Levels(const Graph& graph) {
    for (const Node* node : graph.nodes()) {
      int level = 0;
      for (const Value* v : read_by(*node)) level = std::max(level, of(v));
      nodes_[node] = level;
      for (const Value* v : node->outputs())
        if (v) values_[v] = level + (is_cut(*node) ? 1 : 0);
      last_ = std::max(last_, level + (is_cut(*node) ? 1 : 0));
    }
  }

  int of(const Value* v) const {
    const auto found = values_.find(v);
    return found == values_.end() ? 0 : found->second;
  }
  int of(const Node* node) const { return nodes_.at(node); }
  int last() const { return last_; }

  /// With what bodies capture.
  static std::vector<const Value*> read_by(const Node& node) {
    std::vector<const Value*> all;
    for (const Value* v : node.inputs())
      if (v) all.push_back(v);
    for (const Graph* body : node.bodies())
      for (const Value* v : captures(*body)) all.push_back(v);
    return all;
  }

 private:
  std::map<const Node*, int> nodes_;
  std::map<const Value*, int> values_;
  int last_ = 0;
};

bool is_cut_in_bodies(const Graph& graph) {
  const std::vector<Node*> nodes = all_nodes(graph);
  return std::any_of(nodes.begin(), nodes.end(), [&](const Node* n) { return n->graph() != &graph && is_cut(*n); });
}

/// A stage whose branches are cut: it is made for the inputs at hand, and again for others of another shape or that
/// decide otherwise.
class Decided : public Executable {
 public:
  Decided(Model model, TypeRule types, CompileStage compile)
      : model_(std::move(model)),
        types_(types),
        compile_(std::move(compile)),
        deciding_(deciding_inputs(*model_.graph)) {
    for (const Value* v : model_.graph->inputs())
      if (!v->constant) input_names_.push_back(v->name);
    for (const Value* v : model_.graph->outputs()) output_names_.push_back(v->name);
  }

  std::vector<Datum> run(std::span<const Datum> inputs, const RunHooks& hooks) override {
    const std::shared_ptr<const Made> made = made_for(inputs);
    return made->plan->run(undecided(inputs, std::span<const std::optional<Tensor>>(made->decisions)), hooks);
  }

  const std::vector<std::string>& input_names() const override { return input_names_; }
  const std::vector<std::string>& output_names() const override { return output_names_; }
  const std::vector<std::string>& fallback_nodes() const override { return fallback_; }
  std::vector<StepProfile> profile() const override {
    const std::lock_guard lock(mutex_);
    return made_ ? made_->plan->profile() : std::vector<StepProfile>();
  }

 private:
  struct Made {
    std::vector<Dims> shapes;
    std::vector<std::optional<Tensor>> decisions;
    std::unique_ptr<Executable> plan;
  };

  /// Runs of other threads keep the one that they began with.
  std::shared_ptr<const Made> made_for(std::span<const Datum> inputs) {
    std::vector<Dims> shapes;
    for (const Datum& input : inputs) shapes.push_back(input.tensor().dims());
    const std::lock_guard lock(mutex_);
    if (!made_ || shapes != made_->shapes || !same_decisions(inputs, made_->decisions))
      made_ = make(std::move(shapes), decisions(inputs, deciding_));
    return made_;
  }

  std::shared_ptr<const Made> make(std::vector<Dims> shapes, std::vector<std::optional<Tensor>> decided) const {
    const std::span<const std::optional<Tensor>> values = decided;
    Model bound = clone(model_);
    fix_inputs(bound, values);
    bind_input_shapes(bound, undecided(std::span<const Dims>(shapes), values), types_);
    PassContext context;
    context.standard_types = types_;
    context.keep_outputs = false;
    run_pass(bound, inline_if, context);
    auto plan = is_cut_in_bodies(*bound.graph) ? compile_(bound) : compile_staged(bound, types_, compile_);
    return std::make_shared<const Made>(Made{std::move(shapes), std::move(decided), std::move(plan)});
  }

  Model model_;
  TypeRule types_;
  CompileStage compile_;
  std::vector<bool> deciding_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Made> made_;
  std::vector<std::string> input_names_, output_names_, fallback_;
};

class Staged : public Executable {
 public:
  Staged(const Model& model, TypeRule types, const CompileStage& compile) {
    for (const Value* v : model.graph->inputs())
      if (!v->constant) input_names_.push_back(v->name);
    for (const Value* v : model.graph->outputs()) {
      output_names_.push_back(v->name);
      if (v->constant) constants_[v->name] = *v->constant;
    }
    const Levels levels(*model.graph);
    for (int level = 0; level <= levels.last(); ++level) add_stage(model, levels, level, types, compile);
  }

  std::vector<Datum> run(std::span<const Datum> inputs, const RunHooks& hooks) override {
    if (inputs.size() != input_names_.size()) input_error("the model has another number of inputs");
    std::map<std::string, Datum> values = constants_;
    for (size_t i = 0; i < inputs.size(); ++i) values[input_names_[i]] = inputs[i];
    for (const Stage& stage : stages_) {
      if (stage.plan) run_stage(*stage.plan, values);
      for (const Cut& cut : stage.cuts)
        values[cut.made] = first_rows(values.at(cut.all).tensor(), values.at(cut.count).tensor(), cut.axis);
    }
    std::vector<Datum> outputs;
    for (const std::string& name : output_names_) {
      if (hooks.on_ready) hooks.on_ready(name, values.at(name));
      outputs.push_back(values.at(name));
    }
    return outputs;
  }

  const std::vector<std::string>& input_names() const override { return input_names_; }
  const std::vector<std::string>& output_names() const override { return output_names_; }
  const std::vector<std::string>& fallback_nodes() const override { return fallback_; }
  std::vector<StepProfile> profile() const override {
    std::vector<StepProfile> all;
    for (const Stage& stage : stages_) {
      const std::vector<StepProfile> steps = stage.plan ? stage.plan->profile() : std::vector<StepProfile>();
      all.insert(all.end(), steps.begin(), steps.end());
    }
    return all;
  }

 private:
  struct Cut {
    std::string all, count, made;
    size_t axis;
  };
  struct Stage {
    std::unique_ptr<Executable> plan;  ///< null: there is nothing but cuts
    std::vector<Cut> cuts;             ///< behind it
  };

  static void run_stage(Executable& plan, std::map<std::string, Datum>& values) {
    std::vector<Datum> inputs;
    for (const std::string& name : plan.input_names()) inputs.push_back(values.at(name));
    const std::vector<Datum> made = plan.run(inputs);
    for (size_t i = 0; i < made.size(); ++i) values[plan.output_names()[i]] = made[i];
  }

  void add_stage(const Model& model, const Levels& levels, int level, TypeRule types, const CompileStage& compile) {
    Stage stage;
    std::set<std::string> inputs;
    std::vector<std::string> outputs;
    for (const Node* node : model.graph->nodes()) {
      if (levels.of(node) != level) continue;
      if (is_cut(*node)) {
        const auto axis = static_cast<size_t>(NodeView(*node, 1).get_int("axis"));
        stage.cuts.push_back({node->input(0)->name, node->input(1)->name, node->output(0)->name, axis});
        continue;
      }
      for (const Value* v : Levels::read_by(*node))
        if (!v->constant && (!v->producer || is_cut(*v->producer) || levels.of(v->producer) < level))
          inputs.insert(v->name);
      for (const Value* v : node->outputs())
        if (v && !v->constant && is_wanted_later(*v, levels, level)) outputs.push_back(v->name);
    }
    if (!outputs.empty()) {
      Model part = clone(model);
      extract(part, {inputs.begin(), inputs.end()}, outputs);
      stage.plan =
          is_cut_in_bodies(*part.graph) ? std::make_unique<Decided>(std::move(part), types, compile) : compile(part);
      const auto& fallback = stage.plan->fallback_nodes();
      fallback_.insert(fallback_.end(), fallback.begin(), fallback.end());
    }
    stages_.push_back(std::move(stage));
  }

  static bool is_wanted_later(const Value& v, const Levels& levels, int level) {
    return v.is_output() || std::any_of(v.uses.begin(), v.uses.end(), [&](const Use& use) {
             const Node* reader = use.node;  // of the main graph, or of a body below one of its nodes
             while (reader->graph()->owner) reader = reader->graph()->owner;
             return is_cut(*reader) || levels.of(reader) > level;
           });
  }

  std::vector<Stage> stages_;
  std::map<std::string, Datum> constants_;  ///< outputs that no node makes
  std::vector<std::string> input_names_, output_names_, fallback_;
};

}  // namespace

std::optional<Model> with_counts(const Model& model, TypeRule types) {
  static constexpr std::string_view kOps[] = {"NonZero", "NonMaxSuppression", "Unique", "Compress"};
  const std::vector<Node*> nodes = all_nodes(*model.graph);
  const bool any = std::any_of(nodes.begin(), nodes.end(), [](const Node* node) {
    return node->domain.empty() && std::find(std::begin(kOps), std::end(kOps), node->op) != std::end(kOps);
  });
  if (!any) return std::nullopt;
  Model made = clone(model);
  if (made.opset("mlopt") == 0) made.set_opset("mlopt", 1);
  infer(made, types);
  PassContext context;
  context.standard_types = types;
  context.target = Target::kKernels;
  if (run_pass(made, lower::counted, context).applied == 0) return std::nullopt;
  return made;
}

std::unique_ptr<Executable> compile_staged(const Model& model, TypeRule types, const CompileStage& compile) {
  return std::make_unique<Staged>(model, types, compile);
}

}  // namespace mlopt::gpu
