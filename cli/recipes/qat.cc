#include "cli/recipes/qat.h"

#include <fmt/core.h>

#include "backends/reference/backend.h"
#include "cli/backends.h"
#include "cli/quantize/layer_plan.h"
#include "cli/runner.h"
#include "cli/verb/verb.h"
#include "core/base/error.h"
#include "core/tensor/cast.h"
#include "core/train/corrections.h"
#include "quantize/emit/fake.h"
#include "quantize/emit/read_qdq.h"
#include "quantize/falling_bits.h"
#include "quantize/prepare.h"

namespace mlopt::cli {
namespace {

constexpr std::string_view kGradual = "gradual";  // of --qat-schedule

quantize::Means means_of(const Model& model, const Runner* runner, Backend& judge) {
  quantize::Means means;
  means.runner = runner;
  means.passes = judged_by(judge);
  means.passes.fold_bytes = usual_fold_bytes(model);
  means.error_samples = 0;
  return means;
}

/// Weights and activations in integers, with steps that are learned (Esser et al. 2020, "Learned Step Size
/// Quantization").
void begin_static(Qat& qat, const Model& model, const quantize::Means& means, Session& session) {
  quantize::Spec fake = qat.spec;
  fake.emit = quantize::Emit::kFake;
  quantize::Quantized made = quantize::quantize(model, fake, means);
  if (made.layers == 0) input_error("no layer gains from the format", model.path, "train without --qat");
  for (const std::string& sentence : made.warnings) session.console.warn(sentence);
  session.report.line(fmt::format("{} layers train as {}, calibrated on {} samples", made.layers,
                                  quantize::name(qat.spec), made.samples));
  qat.model = std::move(made.model);
  qat.steps = std::move(made.steps);
  qat.deploy = [spec = qat.spec, left = std::move(made.left)](Model& trained) {
    quantize::deploy(trained, spec);
    return left;
  };
}

/// -1 and 1, or entries of several numbers: a weight that is 0 becomes something else.
bool lacks_zero(const quantize::WeightFormat& format) {
  return format.family == quantize::Family::kVectors ||
         (format.family == quantize::Family::kUniform && format.bits == 1);
}

void require_zeros(const Qat& qat) {
  const auto refuse = [](const std::string& format, const char* where) {
    usage_error(fmt::format("{} has no code for 0, and zeros are to stay", format), where,
                "choose a format that has one, such as ternary or w2");
  };
  const bool fixed = qat.spec.format == quantize::Format::kStatic;
  const bool weights = qat.spec.format == quantize::Format::kWeights && !qat.spec.budget;
  if ((fixed && qat.spec.weight_bits == 1) || (weights && lacks_zero(qat.spec.weights)))
    refuse(quantize::name(qat.spec), "--qat");
  for (const auto& [layer, format] : qat.spec.plan)
    if (lacks_zero(format)) refuse(quantize::to_string(format), "--layer-plan");
}

/// A format for each layer, which the training keeps.
std::map<std::string, quantize::WeightFormat> chosen_plan(const Model& model, const quantize::Spec& spec,
                                                          const quantize::Means& means) {
  std::map<std::string, quantize::WeightFormat> plan;
  for (const quantize::StoredWeight& w : quantize::quantize(model, spec, means).weights)
    if (const auto format = quantize::parse_weight_format(w.format)) plan[w.layer] = *format;
  return plan;
}

void begin_weights(Qat& qat, const Model& model, quantize::Means means, Session& session) {
  if (qat.spec.budget) {
    qat.spec.plan = chosen_plan(model, qat.spec, means);
    qat.spec.budget.reset();
  }
  means.data = nullptr;  // codes are chosen anew without
  quantize::Prepared prepared = quantize::prepare(model, qat.spec, means);
  for (const std::string& sentence : prepared.warnings) session.console.warn(sentence);
  qat.model = std::move(prepared.model);
  qat.weights = true;
  const auto layers = quantize::WeightRounding(qat.model, qat.spec).names().size();
  if (layers == 0) input_error("no layer gains from the format", model.path, "train without --qat");
  session.report.line(fmt::format("{} weights train as {}{}, codes chosen anew at each update", layers,
                                  quantize::name(qat.spec), qat.spec.plan.empty() ? "" : " and what the plan says"));
  qat.deploy = [spec = qat.spec](Model& trained) {
    const auto judge = reference_backend();
    const Runner runner{*judge, {}};
    quantize::Quantized made = quantize::quantize(trained, spec, means_of(trained, &runner, *judge));
    trained = std::move(made.model);
    return made.left;
  };
}

using RoundingByUpdate = std::function<quantize::WeightRounding&(int64_t update)>;

RoundingByUpdate rounding_by_update(const TrainOptions& o, const Qat& qat, const TrainingPlan& plan) {
  if (o.qat_schedule == kGradual) {
    const auto falling = std::make_shared<quantize::FallingBits>(plan.model, qat.spec, plan.loop.schedule.steps);
    return [falling](int64_t update) -> quantize::WeightRounding& { return falling->at(update); };
  }
  const auto rounding = std::make_shared<quantize::WeightRounding>(plan.model, qat.spec);
  return [rounding](int64_t) -> quantize::WeightRounding& { return *rounding; };
}

/// What each weight lacks to what it is rounded to.
void round_weights(quantize::WeightRounding& rounding, StateStore& state) {
  for (const std::string& name : rounding.names()) {
    if (!state.has(name)) continue;  // it is not trained
    const Tensor& weight = state.at(name);
    const std::vector<float> numbers = to_floats(weight), codes = to_floats(rounding.rounded(name, weight));
    auto* correction = reinterpret_cast<float*>(state.bytes(train::correction_of(name)));
    for (size_t i = 0; i < numbers.size(); ++i) correction[i] = codes[i] - numbers[i];
  }
}

}  // namespace

Qat begin_qat(const TrainOptions& o, const Model& model, const Dataset& data, Session& session) {
  Qat qat;
  qat.spec = quantize::parse_spec(o.qat);
  check_node_names(qat.spec.skip, "skip", model, session);
  check_node_names(qat.spec.only, "only", model, session);
  if (!o.layer_plan.empty()) qat.spec.plan = read_layer_plan(o.layer_plan, qat.spec);
  if (o.keep_zeros) require_zeros(qat);
  const auto judge = reference_backend(), backend = open_backend(session.common.device);
  const Runner runner = make_runner(*backend, session.common);
  quantize::Means means = means_of(model, &runner, *judge);
  means.data = &data;
  const bool fixed = qat.spec.format == quantize::Format::kStatic;
  if (fixed && o.qat_schedule == kGradual)
    usage_error("widths fall where weights alone are rounded", "--qat-schedule", "leave it out, or choose such as w2");
  if (fixed)
    begin_static(qat, model, means, session);
  else
    begin_weights(qat, model, means, session);
  return qat;
}

Qat begin_coded(const Model& model, Session& session) {
  Qat qat;
  qat.spec = quantize::parse_spec("w8a8");  // of which only the kind counts: codes keep the types that they have
  qat.model = clone(model);
  const quantize::Emitted read = quantize::read_qdq(qat.model);
  qat.steps = quantize::emit_fake(qat.model, read);
  qat.deploy = [spec = qat.spec](Model& trained) {
    quantize::deploy(trained, spec);
    return Left();
  };
  session.report.line(fmt::format("{} weights train as the codes that the model has", read.floats.size()));
  return qat;
}

void join_qat(const TrainOptions& o, const Qat& qat, TrainingPlan& plan) {
  plan.deploy = qat.deploy;
  plan.recipe.choice.also = qat.steps;
  if (!qat.weights) return;
  plan.scored_deployed = true;
  constexpr double kCalm = 0.3;  // of the usual rate: at that a network forgets more at first than it learns in epochs
  if (!o.rate) plan.loop.schedule.rate *= kCalm;
  const RoundingByUpdate rounding = rounding_by_update(o, qat, plan);
  plan.recipe.corrected = rounding(0).names();
  plan.hooks.before = [rounding](int64_t update, const train::TrainingGraphs& graphs) {
    round_weights(rounding(update), *graphs.state);
  };
}

}  // namespace mlopt::cli
