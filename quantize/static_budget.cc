#include "quantize/static_budget.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "quantize/emit/qdq.h"
#include "quantize/emit/weights.h"
#include "quantize/grids.h"
#include "quantize/latency_plan.h"
#include "quantize/outputs.h"

namespace mlopt::quantize {
namespace {

class Chooser {
 public:
  Chooser(const Model& model, const Spec& spec, const Means& means,
          const std::function<void(Model&, const Spec&)>& finish)
      : model_(model), spec_(spec), means_(means), finish_(finish) {
    spec_.budget.reset();
    allowed_ = spec.budget->amount;
    const Plan plan = make_plan(model, spec_);
    for (const Node* node : model.graph->nodes())
      if (plan.nodes.contains(node) && is_weighted(*node) && node->input(1)->known_constant())
        layers_.push_back(node->called());
    calibrate(plan);
  }

  FloatLayers run() {
    const Outputs source(model_, means_);
    std::vector<LayerTrial> trials;
    for (const std::string& layer : layers_) {
      const double error = source.distance(Outputs(made(alone(layer)), means_));
      trials.push_back({layer, time({layer}), error});
      if (means_.progress) means_.progress("measuring layers", std::ssize(trials), std::ssize(layers_));
    }
    LatencyPlanner planner(std::move(trials), allowed_,
                           [&](const std::vector<std::string>& floats) { return time(floats); });
    FloatLayers found;
    found.layers = planner.choose();
    found.time = planner.time();
    return found;
  }

 private:
  Spec alone(const std::string& layer) const {
    Spec spec = spec_;
    spec.only = {as_glob(layer)};
    return spec;
  }
  Spec without(const std::vector<std::string>& floats) const {
    Spec spec = spec_;
    for (const std::string& layer : floats) spec.skip.push_back(as_glob(layer));
    return spec;
  }

  /// The ranges of all values that any choice may round.
  void calibrate(const Plan& whole) {
    Plan all;
    const auto add = [&](const std::vector<Value*>& values) {
      for (Value* v : values)
        if (v && v->type.is_tensor() && v->type.dtype == DType::kF32 && !v->constant) all.add(v);
    };
    for (const Node* node : model_.graph->nodes()) {
      if (!whole.nodes.contains(node) && !whole.clamped.contains(node)) continue;
      add(node->inputs());
      add(node->outputs());
    }
    add_grids(model_, all);
  }

  void add_grids(const Model& model, const Plan& plan) {
    Grids found = calibrated_grids(model, plan, spec_, *means_.runner, *means_.data, means_.calibration_samples);
    grids_.merge(found.grids);
  }

  Model made(const Spec& spec) {
    Model model = clone(model_);
    const Plan plan = make_plan(model, spec);
    const auto known = [&](const Value* v) { return grids_.contains(v->name); };
    if (!std::all_of(plan.values.begin(), plan.values.end(), known)) add_grids(model, plan);
    emit_qdq(model, plan, grids_, spec);
    return model;
  }

  double time(const std::vector<std::string>& floats) {
    const Spec spec = without(floats);
    Model model = made(spec);
    finish_(model, spec);
    return means_.time(model);
  }

  const Model& model_;
  Spec spec_;
  const Means& means_;
  const std::function<void(Model&, const Spec&)>& finish_;
  double allowed_ = 1;
  std::vector<std::string> layers_;
  std::map<std::string, Grid> grids_;
};

}  // namespace

FloatLayers choose_float_layers(const Model& model, const Spec& spec, const Means& means,
                                const std::function<void(Model&, const Spec&)>& finish) {
  if (!means.time)
    usage_error("a budget of latency is measured, and nothing measures here", "mixed:latency", "use mixed:size=40%");
  return Chooser(model, spec, means, finish).run();
}

}  // namespace mlopt::quantize
