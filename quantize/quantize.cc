#include "quantize/quantize.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/spread.h"
#include "core/onnx/io.h"
#include "core/rewrite/qdq/passes.h"
#include "quantize/bias_correction.h"
#include "quantize/emit/bf16_storage.h"
#include "quantize/emit/dynamic.h"
#include "quantize/emit/fake.h"
#include "quantize/emit/half.h"
#include "quantize/emit/imply_zeros.h"
#include "quantize/emit/keep_float.h"
#include "quantize/emit/keep_integer.h"
#include "quantize/emit/qdq.h"
#include "quantize/emit/qoperator.h"
#include "quantize/emit/weights.h"
#include "quantize/equalize.h"
#include "quantize/error_shares.h"
#include "quantize/grids.h"
#include "quantize/methods.h"
#include "quantize/moments.h"
#include "quantize/outliers.h"
#include "quantize/plan.h"
#include "quantize/prepare.h"
#include "quantize/rotation/rotate.h"
#include "quantize/source.h"
#include "quantize/static_budget.h"
#include "quantize/static_weights.h"
#include "quantize/store_weights.h"
#include "quantize/warnings.h"

namespace mlopt::quantize {
namespace {

/// What the target needs to run a static QDQ model as it is meant.
void fit_target(Model& model, const Spec& spec) {
  if (spec.target.runtime == Runtime::kOrt && spec.held_in_bytes()) {
    keep_float(model);
    keep_integer(model);
  }
  if (spec.emit == Emit::kQOperator) emit_qoperator(model, spec);
  imply_zeros(model);
}

class Quantizer {
 public:
  Quantizer(const Model& source, const Spec& spec, const Means& means) : source_(source), spec_(spec), means_(means) {}

  Quantized run() {
    if (is_integer_format(spec_.format) && !spec_.requantize) require_float(source_);  // before anything is missing
    if (spec_.format == Format::kStatic && !means_.data)
      usage_error(
          fmt::format("{} needs data: the ranges of activations are found by running the model on them", name(spec_)),
          "--data", "give --data with inputs of the kind that the model will see, or use --to w8a8-dynamic");
    prepare();
    if (spec_.rotate) rotate();
    if (spec_.equalize) equalize_layers();
    if (find_method(spec_.method).use == Use::kActivations) {
      require_data(fmt::format("{} looks at what layers are given", spec_.method), "--method");
      if (prepare_products(result_.model, spec_, looking(means_.calibration_samples)) == 0)
        result_.warnings.push_back(spec_.method +
                                   " changed nothing: no product's input can take a division that lessens the error");
    }
    change_opset(result_.model, spec_, means_.passes);
    if (spec_.outliers > 0) split();
    if (spec_.correct_bias) correctable_ = correctable_layers();
    before_ = clone(result_.model);
    rewrite();
    for (std::string& sentence : warnings_of(result_, spec_)) result_.warnings.push_back(std::move(sentence));
    if (spec_.correct_bias && !layers_.empty()) correct();
    result_.layers = static_cast<int64_t>(layers_.size());
    if (layers_.empty() && !spec_.require_integer) {
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
    Prepared done = quantize::prepare(source_, spec_, means_);
    result_.model = std::move(done.model);
    result_.restored = done.restored;
    result_.warnings = std::move(done.warnings);
    moments_ = std::move(done.moments);
  }

  Looking looking(int64_t samples) const { return {means_.runner, means_.data, samples, means_.progress}; }

  bool has_data() const { return means_.data && !means_.generated; }
  void require_data(const std::string& why, const char* option) const {
    if (!has_data()) usage_error(why, option, "give --data with inputs of the kind that the model will see");
  }

  void equalize_layers() {
    const Looking data = looking(means_.calibration_samples);
    const Equalized done = equalize(result_.model, spec_, has_data() ? &data : nullptr);
    result_.equalized = done.pairs;
    for (const auto& [value, scale] : done.divided)
      if (const auto at = moments_.find(value); at != moments_.end()) divide(at->second, scale);
    if (result_.equalized == 0)
      result_.warnings.emplace_back("no two layers follow one another so that factors could move between them");
  }

  void rotate() {
    RotatedStreams done = rotate_streams(result_.model);
    result_.rotated = done.streams;
    if (done.streams == 0)
      unsupported_error("no features can be rotated: " + done.problems.front(), source_.path, "leave --rotate out");
    for (std::string& problem : done.problems) result_.warnings.push_back(std::move(problem));
  }

  void split() {
    if (spec_.format != Format::kWeights) require_data("outliers are found among what layers are given", "--outliers");
    const Looking data = looking(means_.calibration_samples);
    const SplitOff done = split_outliers(result_.model, spec_, has_data() ? &data : nullptr, !spec_.plan.empty());
    result_.split = std::ssize(done.products);
    for (const std::string& product : done.products) spec_.skip.push_back(as_glob(product));
    if (done.products.empty())
      result_.warnings.push_back(
          fmt::format("no layer was split: of {:g} % of its input channels none takes four times their "
                      "share of the error away",
                      spec_.outliers * 100));
  }

  std::vector<CorrectableLayer> correctable_layers() {
    if (moments_.empty())
      require_data("the means of layers are found by running the model, for it has no BatchNormalization to tell them",
                   "--correct-bias");
    return give_biases(result_.model, spec_);
  }

  void correct() {
    if (has_data()) {
      constexpr int64_t kSamples = 64;  // at most: means over all places need few
      result_.corrected =
          correct_biases(result_.model, before_, correctable_, looking(std::min(kSamples, means_.calibration_samples)));
    } else {
      result_.corrected = correct_biases(result_.model, before_, correctable_, moments_of(before_, std::move(moments_)),
                                         *means_.runner);
    }
    remove_dead(result_.model);  // biases that others took the place of
    if (result_.corrected == 0)
      result_.warnings.emplace_back(
          "no bias was corrected: there is no quantized Conv or Gemm of which both the bias and what it is given are "
          "known");
  }

  void rewrite() {
    switch (Model& model = result_.model; spec_.format) {
      case Format::kStatic:
        rewrite_static();
        break;
      case Format::kW8A8Dynamic:
        take(emit_dynamic(model, spec_));
        break;
      case Format::kWeights:
        take(spec_.budget ? store_mixed(model, spec_, means_, written_size(source_, "model.onnx"))
                          : store_weights(model, spec_, means_));
        if (spec_.target.runtime == Runtime::kOnnx || spec_.target.runtime == Runtime::kOrt)
          run_pass(model, qdq::gather_before_dequantize, means_.passes);
        break;
      case Format::kF16:
        take(emit_half(model, spec_));
        break;
      case Format::kBF16:
        take(emit_bf16_storage(model, spec_));
        break;
    }
  }

  /// Layers that a budget of time leaves in float are skipped from here on.
  void choose_floats() {
    require_data("what integers do to the outputs is measured", "--data");
    const FloatLayers found = choose_float_layers(result_.model, spec_, means_, fit_target);
    spec_.budget.reset();
    for (const std::string& layer : found.layers) spec_.skip.push_back(as_glob(layer));
    const std::set<std::string> chosen(found.layers.begin(), found.layers.end());
    for (const Node* node : result_.model.graph->nodes())
      if (chosen.contains(node->called()))
        floats_.emplace(node->label(), "it stays float32: there the time that integers would save gains most");
    result_.decided = spec_;
    result_.time = found.time;
  }

  void rewrite_static() {
    if (spec_.budget) choose_floats();
    const Plan plan = make_plan(result_.model, spec_);
    result_.left = plan.left;
    for (const auto& [layer, reason] : floats_) result_.left.insert_or_assign(layer, reason);
    if (spec_.require_integer && !plan.left.empty())
      unsupported_error(fmt::format("{} would stay in floats: {}", plan.left.begin()->first, plan.left.begin()->second),
                        source_.path, "leave --require-integer out");
    if (plan.nodes.empty()) return;
    Grids found = calibrated_grids(result_.model, plan, spec_, *means_.runner, *means_.data, means_.calibration_samples,
                                   means_.calibration, progress("calibrating"));
    result_.samples = found.samples;
    result_.cached = found.cached;
    for (std::string& sentence : found.warnings) result_.warnings.push_back(std::move(sentence));
    RoundedWeights rounded;
    if (find_method(spec_.method).use == Use::kWeightsAndStatic && spec_.emit != Emit::kFake) {
      require_data(fmt::format("{} looks at what layers are given", spec_.method), "--method");
      rounded = round_weights(result_.model, plan, found.grids, spec_, looking(means_.calibration_samples),
                              means_.passes.standard_types, means_.product_bytes);
      result_.fell_back = rounded.fell_back;
    }
    const Emitted done = emit_qdq(result_.model, plan, found.grids, spec_, rounded.codes);
    layers_ = done.layers;
    result_.weights = done.weights;
    coverage_ = std::move(found.coverage);
    if (spec_.emit == Emit::kFake) result_.steps = emit_fake(result_.model, done, spec_.weight_bits);
  }

  void take(Emitted done) {
    layers_ = std::move(done.layers);
    result_.left = std::move(done.left);
    result_.weights = std::move(done.weights);
    result_.fell_back = std::move(done.fell_back);
  }

  void measure_errors() {
    if (!means_.data || means_.error_samples <= 0) return;
    const auto data = spread(*means_.data, means_.error_samples);
    try {
      result_.errors = layer_errors(means_.runner->backend, means_.runner->options, before_, result_.model, layers_,
                                    *data, progress("errors of layers"));
      put_coverage(layers_, coverage_, result_.errors);
      if (is_integer_format(spec_.format) && has_data() && means_.share_seconds > 0)
        result_.output_error = measure_shares(before_, result_.model, layers_, means_, result_.errors);
    } catch (const Error& e) {
      // The source does not run here, or not on generated inputs: no reason not to change its weights.
      if (e.code != Code::kBadInput && e.code != Code::kUnsupported) throw;
      result_.warnings.push_back("the errors of layers were not measured: " + e.message);
    }
  }

  std::function<void(int64_t, int64_t)> progress(std::string_view what) const {
    if (means_.progress) return [this, what](int64_t done, int64_t total) { means_.progress(what, done, total); };
    return {};
  }

  const Model& source_;
  Spec spec_;  ///< of the user, and without what was split off
  const Means& means_;
  std::vector<CorrectableLayer> correctable_;
  MomentsByName moments_;                      ///< without data, where biases are corrected
  std::map<std::string, std::string> floats_;  ///< layers that a budget leaves so -> why
  Model before_;                               ///< fused, still in float
  std::vector<LayerValue> layers_;
  std::map<std::string, Coverage> coverage_;  ///< of activations, by the value that owns the grid
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
