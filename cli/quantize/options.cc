#include "cli/quantize/options.h"

#include <fmt/core.h>

#include <utility>

#include "quantize/check_spec.h"
#include "quantize/methods.h"

namespace mlopt::cli {
namespace {

/// The methods with what they do.
std::string methods_help() {
  std::string text = "how codes are chosen (of w8a8 and the like only gptq, quantease, adaround, brecq, smoothquant): ";
  for (const quantize::Method& m : quantize::methods())
    text += fmt::format("{}{} ({})", &m == quantize::methods().data() ? "" : ", ", m.name, m.doc);
  return text + " (default: mse)";
}

}  // namespace

void declare_options(Options& options, QuantizeOptions& o) {
  declare_verb(options, o.verb);
  options
      .add("--to", o.to, "FORMAT",
           "w8a8 (weights and activations int8; needs --data), w8a8-dynamic (activations scaled at run time); weights "
           "only: w1 to w8, ternary, nf4, fp4, fp8e4m3, fp8e5m2, codebook2 to codebook8, pot2 to pot8, apot2 to apot8, "
           "each for an output channel, or for groups as w4g32; codebook8v4 and the like (8 bits for 4 numbers); "
           "mixed:size=40% or mixed:bits=4.5 (one for each layer, by what its error does to the outputs on --data), "
           "mixed:latency=0.6x (w8a8 or float32 for each, as a run is measured here); fp16, bf16; or a whole spec, as "
           "the report and the model's metadata keep it")
      .required = true;
  options
      .add("--analyse", o.analyse,
           "write no model: try the formats of --to (a list; default: the usual ones), and show size, error, score and "
           "speed of each, and which are best")
      .alone = true;
  options.add("--csv", o.csv, "FILE", "of --analyse: write the tables as CSV").writes = true;
  options.add("--html", o.html, "FILE", "of --analyse: write the report as one page").writes = true;
  options.add("--layer-plan", o.layer_plan, "FILE",
              "a format for each layer: a --json report of this command, or an object of layer and format, which may "
              "stand here itself: '{\"/head/MatMul\": \"w8\"}'");
  options.add("--method", o.method, "NAME", methods_help());
  options.add("--calibration", o.calibration, "METHOD",
              "how ranges are chosen: minmax, percentile[=99.99], entropy, mse (default: minmax)");
  options.add("--calibration-samples", o.calibration_samples, "N",
              "calibrate on at most N samples, evenly spaced over the data (default: 256)");
  options.add("--calibration-cache", o.calibration_cache, "DIR",
              "keep what calibration sees, and find it there again when model, data and what is observed are the same");
  options.add("--per-tensor", o.per_tensor, "one scale for a weight instead of one for each output channel");
  options.add("--per-token", o.per_token, "of w8a8-dynamic: a scale for each row of an activation, not one for all");
  options.add("--symmetric", o.symmetric,
              "activations, or the weights of formats of weights alone, around zero instead of with a zero point");
  options.add(
      "--equalize", o.equalize,
      "before, factors move from layer to layer through Relu and pooling (with --data through Clip too), so that "
      "all channels of a weight have like ranges: for --per-tensor, where depthwise networks lose most without");
  options.add(
      "--correct-bias", o.correct_bias,
      "after, biases of convolutions and Gemm make up for what moves the means of their outputs, one layer after "
      "the other on --data, or without data where BatchNormalizations tell the means of inputs");
  options.add("--rotate", o.rotate,
              "before, the features of the residual stream of a transformer are rotated, within the weights alone, so "
              "that none is much larger than others: for few bits");
  options.add("--outliers", o.outliers, "P%",
              "so many of the input channels of a layer, those that cost most, are multiplied in float beside it: for "
              "models of which a few channels are much larger than the others");
  options.add("--sparse-outliers", o.sparse_outliers, "P%",
              "so many of the numbers of each weight, the largest, are stored as they are beside the codes");
  options.add("--requantize", o.requantize,
              "MODEL may be quantized already, by whatever tool: its codes are read back to floats before");
  options
      .add("--emit", o.emit, "FORM",
           "how it is written: qdq or, for w8a8, qoperator; for weights only also matmulnbits, matmulbnb4, "
           "gatherblockquantized (of tables), gather, fake (default: qdq; for weights only what suits the target)")
      .choices = {"qdq", "qoperator", "matmulnbits", "matmulbnb4", "gatherblockquantized", "gather", "fake"};
  options.add("--target", o.target, "RUNTIME[:PROCESSOR]",
              "what the result will run on: onnx, ort:P or openvino:P with P one of x86-vnni, x86-amx, x86-avx512, "
              "x86-avx2, arm-dot, native (this machine), or tensorrt:P with P such as sm_89 (default: ort:x86-vnni)");
  options.add("--require-integer", o.require_integer,
              "of w8a8 and the like: for processors without floats, every operator between integers, or an error");
  options.add("--opset", o.opset, "N",
              "the opset of ai.onnx that the result has (default: the model's, raised where the format needs it)");
  options.add(
      "--accuracy-level", o.accuracy_level, "N",
      "of MatMulNBits in ONNX Runtime: 0 computes in float32, 4 rounds activations to 8 bits as well, and has "
      "kernels for 2 and 8 bits too (default: 4 for weights of up to 4 bits on x86-vnni, x86-amx and arm-dot, else "
      "0)");
  options.add("--only", o.only, "GLOBS", "quantize only nodes whose names match one of these");
  options.add("--skip", o.skip, "GLOBS", "leave nodes as they are whose names match one of these");
}

quantize::Spec spec_of(const QuantizeOptions& o, const std::string& to) {
  std::string text = to;
  const auto add = [&](const std::string& part) { text += (text.find(':') == std::string::npos ? ":" : ";") + part; };
  if (!o.method.empty()) add("method=" + o.method);
  if (!o.calibration.empty()) add("calibration=" + o.calibration);
  if (!o.emit.empty()) add("emit=" + o.emit);
  if (!o.target.empty()) add("target=" + o.target);
  const std::pair<bool, const char*> flags[] = {{o.per_tensor, "per_tensor"},
                                                {o.per_token, "per_token"},
                                                {o.symmetric, "symmetric"},
                                                {o.equalize, "equalize"},
                                                {o.correct_bias, "correct_bias"},
                                                {o.requantize, "requantize"},
                                                {o.rotate, "rotate"},
                                                {o.require_integer, "require_integer"}};
  for (const auto& [given, part] : flags)
    if (given) add(part);
  if (!o.outliers.empty()) add("outliers=" + o.outliers);
  if (!o.sparse_outliers.empty()) add("sparse_outliers=" + o.sparse_outliers);
  if (o.opset) add(fmt::format("opset={}", *o.opset));
  if (o.accuracy_level) add(fmt::format("accuracy_level={}", *o.accuracy_level));
  quantize::Spec spec = quantize::parse_spec(text);
  for (std::string& glob : list_items(o.only)) spec.only.push_back(std::move(glob));
  for (std::string& glob : list_items(o.skip)) spec.skip.push_back(std::move(glob));
  return spec;
}

quantize::Spec spec_among(const QuantizeOptions& o, const std::string& to) {
  const quantize::Spec format = quantize::parse_spec(to);
  if (!o.calibration.empty()) parse_range_method(o.calibration);  // there must be such a one
  QuantizeOptions own = o;
  if (!quantize::chooses_ranges(format)) own.calibration.clear();
  if (!quantize::chooses_zero_point(format)) own.symmetric = false;
  if (!quantize::has_codes(format)) {
    own.per_tensor = false;
    own.emit.clear();
  }
  return spec_of(own, to);
}

}  // namespace mlopt::cli
