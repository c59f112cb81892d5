#include "quantize/quantize.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/spread.h"
#include "core/onnx/io.h"
#include "core/onnx/tools.h"
#include "graphopt/pipelines.h"
#include "quantize/bias_correction.h"
#include "quantize/delay_transpose.h"
#include "quantize/emit/bf16_storage.h"
#include "quantize/emit/dynamic.h"
#include "quantize/emit/fake.h"
#include "quantize/emit/half.h"
#include "quantize/emit/keep_bytes.h"
#include "quantize/emit/keep_float.h"
#include "quantize/emit/keep_integer.h"
#include "quantize/emit/qdq.h"
#include "quantize/emit/qoperator.h"
#include "quantize/emit/single.h"
#include "quantize/equalize.h"
#include "quantize/grids.h"
#include "quantize/methods.h"
#include "quantize/plan.h"
#include "quantize/static_weights.h"
#include "quantize/store_weights.h"
#include "quantize/unfuse.h"

namespace mlopt::quantize {
namespace {

/// The first opset of ai.onnx in which the format can be written.
int64_t least_opset(const Spec& spec, const Means& means, const Model& model) {
  switch (spec.format) {
    case Format::kStatic:
      return spec.held_in_bytes() ? 13 : 21;  // a scale for each channel; 4 or 16 bits
    case Format::kW8A8Dynamic:
      return 11;  // DynamicQuantizeLinear
    case Format::kWeights:
      return opset_of_weights(model, spec, means.plan);
    case Format::kF16:
      return 1;
    default:
      return 13;  // Cast to bfloat16
  }
}

bool is_integer_format(Format format) {
  return format == Format::kStatic || format == Format::kW8A8Dynamic || format == Format::kWeights;
}

void require_float(const Model& model) {
  for (const Node* node : all_nodes(*model.graph)) {
    const bool quantized = node->op.find("QuantizeLinear") != std::string::npos || starts_with(node->op, "QLinear") ||
                           ends_with(node->op, "Integer") || starts_with(node->op, "MatMulNBits") ||
                           starts_with(node->op, "MatMulBnb4");
    if (!quantized) continue;
    input_error(fmt::format("the model is quantized already: it has {}", node->label()), model.path,
                "quantize the float model that it was made from");
  }
}

/// What the target needs to run a static QDQ model as it is meant.
void fit_target(Model& model, const Spec& spec) {
  if (starts_with(spec.target, "ort")) {
    if (spec.held_in_bytes()) {
      keep_float(model);
      keep_integer(model);
    }
    keep_bytes(model);
  }
  if (spec.emit == Emit::kQOperator) emit_qoperator(model, spec);
}

class Quantizer {
 public:
  Quantizer(const Model& source, const Spec& spec, const Means& means) : source_(source), spec_(spec), means_(means) {}

  Quantized run() {
    if (is_integer_format(spec_.format)) require_float(source_);
    if (spec_.format == Format::kStatic && !means_.data)
      usage_error(
          fmt::format("{} needs data: the ranges of activations are found by running the model on them", name(spec_)),
          "--data", "give --data with inputs of the kind that the model will see, or use --to w8a8-dynamic");
    prepare();
    if (spec_.equalize) equalize_layers();
    const Method& method = find_method(spec_.method);
    if (method.use == Use::kActivations) {
      require_data(fmt::format("{} looks at what layers are given", method.name), "--method");
      prepare_products(result_.model, spec_, looking(means_.calibration_samples));
    }
    if (spec_.correct_bias) correctable_ = correctable_layers();
    before_ = clone(result_.model);
    rewrite();
    if (spec_.correct_bias && !layers_.empty()) correct();
    result_.layers = static_cast<int64_t>(layers_.size());
    if (layers_.empty()) {
      result_.model = clone(source_);
      result_.warnings.push_back("no layer gains from the format: the model is written as it was");
    } else {
      measure_errors();
      if (spec_.format == Format::kStatic && spec_.emit != Emit::kFake) fit_target(result_.model, spec_);
    }
    return std::move(result_);
  }

 private:
  void prepare() {
    Model& model = result_.model = clone(source_);
    if (!model.functions.empty()) inline_functions(model);
    make_defaults_constant(*model.graph);
    if (is_integer_format(spec_.format) && holds_half(model)) {
      emit_single(model);
      result_.warnings.emplace_back("the model computes in 16 bits: what does not become int8 is float32 now");
    }
    run_pass(model, unfuse, means_.passes);
    graphopt::prepare(model, means_.passes);
    const int64_t least = least_opset(spec_, means_, model);
    if (model.opset() < least && has_layers(model)) {
      model = convert_opset(model, least);
      graphopt::prepare(model, means_.passes);  // what the conversion added
    }
    if (spec_.format == Format::kF16) run_pass(model, delay_transpose, means_.passes);
    warn_of_bodies();
  }

  Looking looking(int64_t samples) const { return {means_.runner, means_.data, samples, means_.progress}; }

  bool has_data() const { return means_.data && !means_.generated; }

  void require_data(const std::string& why, const char* option) const {
    if (!has_data()) usage_error(why, option, "give --data with inputs of the kind that the model will see");
  }

  void equalize_layers() {
    const Looking data = looking(means_.calibration_samples);
    result_.equalized = equalize(result_.model, spec_, has_data() ? &data : nullptr);
    if (result_.equalized == 0)
      result_.warnings.emplace_back("no two layers follow one another so that factors could move between them");
  }

  std::vector<CorrectableLayer> correctable_layers() {
    require_data("the means of layers are found by running the model", "--correct-bias");
    return give_biases(result_.model, spec_);
  }

  void correct() {
    constexpr int64_t kSamples = 64;  // at most: means over all places need few
    result_.corrected =
        correct_biases(result_.model, before_, correctable_, looking(std::min(kSamples, means_.calibration_samples)));
  }

  static bool holds_half(const Model& model) {
    const std::vector<Value*> constants = model.graph->initializers();
    return std::any_of(constants.begin(), constants.end(), [](const Value* v) {
      return v->constant->dtype() == DType::kF16 || v->constant->dtype() == DType::kBF16;
    });
  }

  /// Old exporters list every weight as an input with a default. A caller cannot override what is stored in another
  /// format, so these become constants; scalars, which may be settings, stay.
  void make_defaults_constant(Graph& graph) {
    int64_t made = 0;
    for (int i = static_cast<int>(graph.inputs().size()) - 1; i >= 0; --i) {
      const Value* v = graph.inputs()[static_cast<size_t>(i)];
      if (!v->is_initializer() || v->constant->dtype() != DType::kF32 || v->constant->rank() == 0) continue;
      graph.remove_input(i);
      ++made;
    }
    if (made)
      result_.warnings.push_back(fmt::format("{} weights that were inputs with defaults are constants now", made));
  }

  /// A model without layers is not worth an opset that it may have no form in.
  static bool has_layers(const Model& model) {
    const std::vector<Node*> nodes = all_nodes(*model.graph);
    return std::any_of(nodes.begin(), nodes.end(), [](const Node* node) {
      return std::any_of(node->inputs().begin(), node->inputs().end(),
                         [](const Value* v) { return v && v->known_constant() && v->constant->rank() >= 2; });
    });
  }

  void warn_of_bodies() {
    const auto weighted = [](const Node* n) { return n->is("Conv") || n->is("Gemm") || n->is("MatMul"); };
    const std::vector<Node*> all = all_nodes(*result_.model.graph);
    const auto inside = std::count_if(
        all.begin(), all.end(), [&](const Node* n) { return n->graph() != result_.model.graph.get() && weighted(n); });
    if (inside && spec_.format != Format::kWeights)
      result_.warnings.push_back(fmt::format("{} layers in the bodies of If, Loop or Scan stay as they are", inside));
  }

  void rewrite() {
    Model& model = result_.model;
    switch (spec_.format) {
      case Format::kStatic:
        rewrite_static();
        break;
      case Format::kW8A8Dynamic:
        take(emit_dynamic(model, spec_));
        break;
      case Format::kWeights:
        take(spec_.budget ? store_mixed(model, spec_, means_, written_size(source_, "model.onnx"))
                          : store_weights(model, spec_, means_));
        warn_of_plan();
        break;
      case Format::kF16:
        take(emit_half(model, spec_));
        break;
      case Format::kBF16:
        take(emit_bf16_storage(model, spec_));
        break;
    }
  }

  void warn_of_plan() {
    for (const auto& [layer, format] : means_.plan)
      if (std::none_of(result_.weights.begin(), result_.weights.end(),
                       [&, &name = layer](const StoredWeight& w) { return w.layer == name; }))
        result_.warnings.push_back(fmt::format("the plan names '{}', which has no weight that can be stored", layer));
  }

  void rewrite_static() {
    const Plan plan = make_plan(result_.model, spec_);
    result_.left = plan.left;
    if (plan.nodes.empty()) return;
    Grids found = calibrated_grids(result_.model, plan, spec_, *means_.runner, *means_.data, means_.calibration_samples,
                                   progress("calibrating"));
    result_.samples = found.samples;
    for (std::string& sentence : found.warnings) result_.warnings.push_back(std::move(sentence));
    const std::map<std::string, Grid>& grids = found.grids;
    Rounded rounded;
    if (find_method(spec_.method).use == Use::kWeightsAndStatic && spec_.emit != Emit::kFake) {
      require_data(fmt::format("{} looks at what layers are given", spec_.method), "--method");
      rounded = round_weights(result_.model, plan, grids, spec_, looking(means_.calibration_samples));
    }
    const Emitted done = emit_qdq(result_.model, plan, grids, spec_, rounded);
    layers_ = done.layers;
    if (spec_.emit == Emit::kFake) result_.steps = emit_fake(result_.model, done);
  }

  void take(Emitted done) {
    layers_ = std::move(done.layers);
    result_.left = std::move(done.left);
    result_.weights = std::move(done.weights);
  }

  void measure_errors() {
    if (!means_.data || means_.error_samples <= 0) return;
    const auto data = spread(*means_.data, means_.error_samples);
    try {
      result_.errors = layer_errors(means_.runner->backend, means_.runner->options, before_, result_.model, layers_,
                                    *data, progress("errors of layers"));
    } catch (const Error& e) {
      // The source does not run here, or not on generated inputs: no reason not to change its weights.
      if (e.code != Code::kBadInput && e.code != Code::kUnsupported) throw;
      result_.warnings.push_back("the errors of layers were not measured: " + e.message);
    }
  }

  std::function<void(int64_t, int64_t)> progress(std::string_view what) const {
    if (!means_.progress) return {};
    return [this, what](int64_t done, int64_t total) { means_.progress(what, done, total); };
  }

  const Model& source_;
  const Spec& spec_;
  const Means& means_;
  std::vector<CorrectableLayer> correctable_;
  Model before_;  ///< fused, still in float
  std::vector<LayerValue> layers_;
  Quantized result_;
};

}  // namespace

void deploy(Model& fake, const Spec& spec) {
  emit_trained(fake, spec);
  fit_target(fake, spec);
}

Quantized quantize(const Model& source, const Spec& spec, const Means& means) {
  return Quantizer(source, spec, means).run();
}

}  // namespace mlopt::quantize
