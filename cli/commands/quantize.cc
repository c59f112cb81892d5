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
#include "cli/quantize/report.h"
#include "cli/runner.h"
#include "cli/verb/left.h"
#include "cli/verb/origin.h"
#include "cli/verb/stopwatch.h"
#include "cli/verb/trial.h"
#include "cli/verb/verb.h"
#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/text.h"
#include "quantize/methods.h"

namespace mlopt::cli {
namespace {

constexpr const char* kGenerated = "random:1";  // what layers without data are compared on

struct QuantizeOptions {
  VerbOptions verb;
  std::string to, method, calibration, emit, target, outliers, sparse_outliers, layer_plan, calibration_cache, csv,
      html;
  bool per_tensor = false, symmetric = false, equalize = false, correct_bias = false, analyse = false,
       requantize = false, require_integer = false, rotate = false;
  std::vector<std::string> only, skip;
  int64_t calibration_samples = 256;
  std::optional<int64_t> opset, accuracy_level;
};

/// --to holds a format or a whole spec; the other options add to it.
quantize::Spec spec_of(const QuantizeOptions& o, const std::string& to) {
  std::string text = to;
  const auto add = [&](const std::string& part) { text += (text.find(':') == std::string::npos ? ":" : ";") + part; };
  if (!o.method.empty()) add("method=" + o.method);
  if (!o.calibration.empty()) add("calibration=" + o.calibration);
  if (!o.emit.empty()) add("emit=" + o.emit);
  if (!o.target.empty()) add("target=" + o.target);
  if (o.per_tensor) add("per_tensor");
  if (o.symmetric) add("symmetric");
  if (o.equalize) add("equalize");
  if (o.correct_bias) add("correct_bias");
  if (o.requantize) add("requantize");
  if (o.rotate) add("rotate");
  if (!o.outliers.empty()) add("outliers=" + o.outliers);
  if (!o.sparse_outliers.empty()) add("sparse_outliers=" + o.sparse_outliers);
  if (o.require_integer) add("require_integer");
  if (o.opset) add(fmt::format("opset={}", *o.opset));
  if (o.accuracy_level) add(fmt::format("accuracy_level={}", *o.accuracy_level));
  quantize::Spec spec = quantize::parse_spec(text);
  for (std::string& glob : list_items(o.only)) spec.only.push_back(std::move(glob));
  for (std::string& glob : list_items(o.skip)) spec.skip.push_back(std::move(glob));
  return spec;
}

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
  if (calibrated && starts_with(o.verb.data.spec, "random"))
    warnings.insert(warnings.begin(),
                    "ranges were calibrated on random numbers, and will not fit real inputs: this result is good for "
                    "measuring speed and size only");
  for (const std::string& sentence : warnings) session.console.warn(sentence);
  session.report.data["warnings"] = warnings;
}

/// A result that is no gain is called so.
void judge_gain(bool computes_in_integers, Session& session) {
  Json& data = session.report.data;
  const auto disappoint = [&](const std::string& sentence) {
    session.console.warn(sentence);
    data["warnings"].push_back(sentence);
  };
  const Json *before = data["source"].find("size_bytes"), *after = data["result"].find("size_bytes");
  if (before && after && after->integer() >= before->integer())
    disappoint("the result is not smaller than the source: its weights are too few to pay for what was added");
  const Json* ratios = data["latency"].find("ratios");
  if (!ratios || ratios->items().empty()) return;
  const Json *low = ratios->items()[0].find("low"), *high = ratios->items()[0].find("high");
  if (high && high->is_number() && high->number() < 1)
    disappoint(
        "the result is slower than the source on this machine; --skip leaves layers out, and other formats may do");
  else if (computes_in_integers && low && low->is_number() && low->number() <= 1)
    disappoint(
        "the result is not shown to be faster than the source on this machine: measure it with the runtime and on the "
        "processor that it is for");
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
  with_data_hint(o.verb.data, source, [&] {
    analyse(
        o.verb, list_items({o.to}), source, means, [&](const std::string& format) { return spec_of(o, format); },
        session);
  });
  write_analysis(files, session.report);
}

void run(const QuantizeOptions& o, Session& session) {
  if (o.calibration_samples < 1) usage_error("at least one sample calibrates", "--calibration-samples");
  if (o.analyse) return run_analysis(o, session);
  if (!o.csv.empty() || !o.html.empty())
    usage_error("tables of formats are what --analyse makes", o.csv.empty() ? "--html" : "--csv");
  const quantize::Spec spec = spec_of(o, o.to);
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
  if (!o.layer_plan.empty()) means.plan = read_layer_plan(o.layer_plan, spec);
  Stopwatch watch(o.verb, source, session);
  means.time = [&](const Model& model) { return watch.share(model); };
  quantize::Quantized made;
  try {
    with_data_hint(o.verb.data, source, [&] { made = quantize::quantize(source, spec, means); });
  } catch (const LeftToRank0&) {
    return;
  }
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
  finish_verb(o.verb, source, std::move(result), session);
  report_entropy(made, session.report);
  report_advice(made, spec, !means.plan.empty(), session.report);
  if (changed) judge_gain(calibrates || spec.format == quantize::Format::kW8A8Dynamic, session);
}

/// The methods with what they do.
std::string methods_help() {
  std::string text = "how codes are chosen (of w8a8 and the like only gptq, quantease, adaround, brecq, smoothquant): ";
  for (const quantize::Method& m : quantize::methods())
    text += fmt::format("{}{} ({})", &m == quantize::methods().data() ? "" : ", ", m.name, m.doc);
  return text + " (default: mse)";
}

Action setup(Options& options) {
  const auto o = std::make_shared<QuantizeOptions>();
  declare_verb(options, o->verb);
  options
      .add("--to", o->to, "FORMAT",
           "w8a8 (weights and activations int8; needs --data), w8a8-dynamic (activations scaled at run time); weights "
           "only: w1 to w8, ternary, nf4, fp4, fp8e4m3, fp8e5m2, codebook2 to codebook8, pot2 to pot8, apot2 to apot8, "
           "each for an output channel, or for groups as w4g32; codebook8v4 and the like (8 bits for 4 numbers); "
           "mixed:size=40% or mixed:bits=4.5 (one for each layer, by what "
           "its error does to the outputs on --data), mixed:latency=0.6x (w8a8 or float32 for each, as a run is "
           "measured "
           "here); fp16, bf16; or a whole spec, as the report and the model's "
           "metadata keep it")
      .required = true;
  options
      .add("--analyse", o->analyse,
           "write no model: try the formats of --to (a list; default: the usual ones), and show size, error, score and "
           "speed of each, and which are best")
      .alone = true;
  options.add("--csv", o->csv, "FILE", "of --analyse: write the tables as CSV");
  options.add("--html", o->html, "FILE", "of --analyse: write the report as one page");
  options.add("--layer-plan", o->layer_plan, "FILE",
              "a format for each layer: a --json report of this command, or an object of layer and format, which may "
              "stand here itself: '{\"/head/MatMul\": \"w8\"}'");
  options.add("--method", o->method, "NAME", methods_help());
  options.add("--calibration", o->calibration, "METHOD",
              "how ranges are chosen: minmax, percentile[=99.99], entropy, mse (default: minmax)");
  options.add("--calibration-samples", o->calibration_samples, "N",
              "calibrate on at most N samples, evenly spaced over the data (default: 256)");
  options.add("--calibration-cache", o->calibration_cache, "DIR",
              "keep what calibration sees, and find it there again when model, data and what is observed are the same");
  options.add("--per-tensor", o->per_tensor, "one scale for a weight instead of one for each output channel");
  options.add("--symmetric", o->symmetric,
              "activations, or the weights of formats of weights alone, around zero instead of with a zero point");
  options.add(
      "--equalize", o->equalize,
      "before, factors move from layer to layer through Relu and pooling (with --data through Clip too), so that "
      "all channels of a weight have like ranges: for --per-tensor, where depthwise networks lose most without");
  options.add(
      "--correct-bias", o->correct_bias,
      "after, biases of convolutions and Gemm make up for what moves the means of their outputs, one layer after "
      "the other on --data, or without data where BatchNormalizations tell the means of inputs");
  options.add("--rotate", o->rotate,
              "before, the features of the residual stream of a transformer are rotated, within the weights alone, so "
              "that none is much larger than others: for few bits");
  options.add("--outliers", o->outliers, "P%",
              "so many of the input channels of a layer, those that cost most, are multiplied in float beside it: for "
              "models of which a few channels are much larger than the others");
  options.add("--sparse-outliers", o->sparse_outliers, "P%",
              "so many of the numbers of each weight, the largest, are stored as they are beside the codes");
  options.add("--requantize", o->requantize,
              "MODEL may be quantized already, by whatever tool: its codes are read back to floats before");
  options
      .add("--emit", o->emit, "FORM",
           "how it is written: qdq or, for w8a8, qoperator; for weights only also matmulnbits, matmulbnb4, "
           "gatherblockquantized (of tables), gather, fake (default: qdq; for weights only what suits the target)")
      .choices = {"qdq", "qoperator", "matmulnbits", "matmulbnb4", "gatherblockquantized", "gather", "fake"};
  options.add("--target", o->target, "RUNTIME[:PROCESSOR]",
              "what the result will run on: onnx, ort:P or openvino:P with P one of x86-vnni, x86-amx, x86-avx512, "
              "x86-avx2, arm-dot, native (this machine), or tensorrt:P with P such as sm_89 (default: ort:x86-vnni)");
  options.add("--require-integer", o->require_integer,
              "of w8a8 and the like: for processors without floats, every operator between integers, or an error");
  options.add("--opset", o->opset, "N",
              "the opset of ai.onnx that the result has (default: the model's, raised where the format needs it)");
  options.add("--accuracy-level", o->accuracy_level, "N",
              "of MatMulNBits in ONNX Runtime: 0 computes in float32, 4 rounds activations to 8 bits as well: for "
              "processors with a dot product of bytes, also weights of 2 and 8 bits (default: 0)");
  options.add("--only", o->only, "GLOBS", "quantize only nodes whose names match one of these");
  options.add("--skip", o->skip, "GLOBS", "leave nodes as they are whose names match one of these");
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
