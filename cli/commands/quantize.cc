#include "quantize/quantize.h"

#include <fmt/core.h>

#include <algorithm>
#include <future>
#include <memory>
#include <optional>

#include "backends/reference/backend.h"
#include "cli/commands.h"
#include "cli/large.h"
#include "cli/quantize/advice.h"
#include "cli/quantize/analyse.h"
#include "cli/quantize/calibration.h"
#include "cli/quantize/layer_plan.h"
#include "cli/quantize/options.h"
#include "cli/quantize/report.h"
#include "cli/quantize/within_gates.h"
#include "cli/runner.h"
#include "cli/targets.h"
#include "cli/verb/left.h"
#include "cli/verb/origin.h"
#include "cli/verb/stopwatch.h"
#include "cli/verb/trial.h"
#include "cli/verb/verb.h"
#include "core/base/error.h"
#include "core/base/parallel.h"

namespace mlopt::cli {
namespace {

constexpr const char* kGenerated = "random:1";  // what layers without data are compared on

/// The user's data; where there are none and the format needs none, generated ones, or nothing for a model that no
/// inputs can be generated for.
std::unique_ptr<Dataset> find_data(const QuantizeOptions& o, const Model& source, const Session& session) {
  DataFlags flags = o.verb.data;
  const DataUse use = {.seed = session.common.seed};
  if (!flags.spec.empty()) return open_data(flags, source, use);
  if (is_large(source)) return nullptr;  // running it takes longer than storing its weights
  flags.spec = kGenerated;
  try {
    return open_data(flags, source, use);
  } catch (const Error&) {
    return nullptr;
  }
}

void warn(const QuantizeOptions& o, const quantize::Quantized& made, bool calibrated, Session& session) {
  std::vector<std::string> warnings = made.warnings;
  if (calibrated && o.verb.data.spec.starts_with("random"))
    warnings.insert(warnings.begin(),
                    "ranges were calibrated on random numbers, and will not fit real inputs: this result is good for "
                    "measuring speed and size only");
  for (const std::string& sentence : warnings) session.console.warn(sentence);
  session.report.data["warnings"] = warnings;
}

void disappoint(const std::string& sentence, Session& session) {
  session.console.warn(sentence);
  session.report.data["warnings"].push_back(sentence);
}

/// The source may have had what the target cannot run.
void doubt_target(const QuantizeOptions& o, const quantize::Spec& spec, VerbResult& result, Session& session) {
  if (o.target.empty() && spec.target == quantize::Target()) return;  // nobody named it
  const std::string name = quantize::to_string(spec.target);
  const std::string doubts = doubts_of(name.substr(0, name.find(':')), result.model);
  if (doubts.empty()) return;
  disappoint(doubts, session);
  result.not_verified.push_back(doubts);
}

/// What ONNX Runtime makes of weights in bytes and 16 bits beside them (MatMulNBits) rounds activations again.
void doubt_activations(const quantize::Spec& spec, VerbResult& result, Session& session) {
  constexpr int kByte = 8, kWord = 16;
  if (spec.format != quantize::Format::kStatic || spec.target.runtime != quantize::Runtime::kOrt ||
      spec.activation_bits != kWord || spec.weight_bits > kByte)
    return;
  const std::vector<Node*> nodes = result.model.graph->nodes();
  const auto joined = [](const Node* node) {
    const Node* from = node->is("MatMul") && node->input(1) ? node->input(1)->producer : nullptr;
    return from && from->is("DequantizeLinear");
  };
  if (std::none_of(nodes.begin(), nodes.end(), joined)) return;
  const std::string doubt =
      "ONNX Runtime rounds the activations of MatMul to 8 bits where its session option "
      "session.qdq_matmulnbits_accuracy_level is not 1: what was measured here has 16";
  disappoint(doubt, session);
  result.not_verified.push_back(doubt);
}

/// A result that is no gain is called so.
void judge_gain(bool computes_in_integers, Session& session) {
  Json& data = session.report.data;
  const Json *before = data["source"].find("size_bytes"), *after = data["result"].find("size_bytes");
  if (before && after && after->integer() >= before->integer())
    disappoint("the result is not smaller than the source: its weights are too few to pay for what was added", session);
  const Json* ratios = data["latency"].find("ratios");
  if (!ratios || ratios->items().empty()) return;
  const Json *low = ratios->items()[0].find("low"), *high = ratios->items()[0].find("high");
  if (high && high->is_number() && high->number() < 1)
    disappoint(
        "the result is slower than the source on this machine; --skip leaves layers out, and other formats may do",
        session);
  else if (computes_in_integers && low && low->is_number() && low->number() <= 1)
    disappoint(
        "the result is not shown to be faster than the source on this machine: measure it with the runtime and on the "
        "processor that it is for",
        session);
}

quantize::Means means_of(const QuantizeOptions& o, const Model& source, const Runner& runner, Backend& judge,
                         const Dataset* data) {
  quantize::Means means;
  means.runner = &runner;
  means.passes = judged_by(judge);
  means.passes.fold_bytes = usual_fold_bytes(source);
  means.data = data;
  means.generated = o.verb.data.spec.empty();
  means.calibration_samples = o.calibration_samples;
  means.file_bytes = [&](const Model& made, const quantize::Spec& spec) {
    return final_size(o.verb, source, made, spec);
  };
  return means;
}

/// --analyse.
void run_analysis(const QuantizeOptions& o, Session& session) {
  const AnalysisFiles files{o.csv, o.html};
  check_analysis(o.verb, files, session);
  const Model source = read_source(o.verb);
  const std::unique_ptr<Backend> judge = reference_backend(), backend = open_backend_for(session.common.device, source);
  const Runner runner = make_runner(*backend, session.common);
  const std::unique_ptr<Dataset> data = find_data(o, source, session);
  quantize::Means means = means_of(o, source, runner, *judge, data.get());
  means.error_samples = 0;
  const std::vector<std::string> formats = list_items({o.to});
  const auto spec = [&](const std::string& to) { return formats.size() == 1 ? spec_of(o, to) : spec_among(o, to); };
  with_data_hint(o.verb.data, source, [&] { analyse(o.verb, formats, source, means, spec, session); });
  write_analysis(files, session.report);
}

void run(const QuantizeOptions& o, Session& session) {
  if (o.calibration_samples < 1) usage_error("at least one sample calibrates", "--calibration-samples");
  if (o.analyse) return run_analysis(o, session);
  if (!o.csv.empty() || !o.html.empty())
    usage_error("tables of formats are what --analyse makes", o.csv.empty() ? "--html" : "--csv");
  quantize::Spec spec = spec_of(o, o.to);
  const Model source = begin_verb(o.verb, session);
  check_node_names(spec.only, "--only", source, session);
  check_node_names(spec.skip, "--skip", source, session);
  std::future<std::string> hash;  // a large file is read beside the work on its weights
  if (is_large(source) && max_threads() > 1)
    hash = std::async(std::launch::async, [&source] { return source_hash(source); });
  const std::unique_ptr<Backend> judge = reference_backend(), backend = open_backend_for(session.common.device, source);
  const Runner runner = make_runner(*backend, session.common);
  const bool calibrates = spec.format == quantize::Format::kStatic;
  const std::unique_ptr<Dataset> data =
      calibrates && o.verb.data.spec.empty() ? nullptr : find_data(o, source, session);

  quantize::Means means = means_of(o, source, runner, *judge, data.get());
  if (is_large(source)) means.error_samples = 2, means.share_seconds = 0;  // each takes many seconds
  means.spill = waiting_folder(source, o.verb.output);
  means.calibration = calibration_means(o.calibration_cache, spec, session);
  if (!o.layer_plan.empty()) spec.plan = read_layer_plan(o.layer_plan, spec);
  Stopwatch watch(o.verb, source, session);
  means.time = [&](const Model& model) { return watch.share(model); };
  quantize::Quantized made;
  try {
    with_data_hint(o.verb.data, source, [&] { made = quantize_within(o.verb, source, means, spec); });
  } catch (const LeftToRank0&) {
    return;
  }
  check_layer_plan(spec.plan, source, made);
  if (made.layers == 0)  // the source is written as it was
    made.restored = made.rotated = made.equalized = made.split = made.corrected = 0;
  warn(o, made, calibrates, session);
  report_made(made, spec, session.report);
  report_left(made.left, session.report);
  report_weights(made, session.report);
  report_layers(made, session.report);

  VerbResult result;
  result.spec = quantize::to_string(made.decided.value_or(spec));
  result.changes = Json::object({{"layers", made.layers},
                                 {"calibration_samples", made.samples},
                                 {"calibration_cached", made.cached},
                                 {"restored_nodes", made.restored},
                                 {"rotated_streams", made.rotated},
                                 {"equalized_pairs", made.equalized},
                                 {"split_layers", made.split},
                                 {"corrected_biases", made.corrected}});
  result.declined = declined_json(made.left, "node");
  result.model = std::move(made.model);
  if (hash.valid()) result.source_hash = hash.get();
  const bool changed = made.layers > 0;
  doubt_target(o, spec, result, session);
  doubt_activations(spec, result, session);
  finish_verb(o.verb, source, std::move(result), session);
  report_entropy(made, session.report);
  report_advice(made, spec, !spec.plan.empty(), session.report);
  for (const std::string& sentence : gates_beyond(spec, session.report.gates)) disappoint(sentence, session);
  if (changed) judge_gain(calibrates || spec.format == quantize::Format::kW8A8Dynamic, session);
}

Action setup(Options& options) {
  const auto o = std::make_shared<QuantizeOptions>();
  declare_options(options, *o);
  return [o](Session& session) { run(*o, session); };
}

}  // namespace

Command quantize_command() {
  return {.name = "quantize",
          .arguments = "MODEL -o OUT --to FORMAT",
          .summary = "store and compute in fewer bits: int8, float16, bfloat16",
          .examples = {{{"quantize resnet.onnx -o int8.onnx --to w8a8 --data "
                         "images:val/,resize=256,crop=224,mean=0.485/0.456/0.406,std=0.229/0.224/0.225 --metric top1 "
                         "--max-drop 0.5",
                         "weights and activations in int8, and at most half a point lost"},
                        {"quantize bert.onnx -o dynamic.onnx --to w8a8-dynamic", "without data"}}},
          .setup = setup,
          .parallel = true};
}

}  // namespace mlopt::cli
