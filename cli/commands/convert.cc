#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/verb/verb.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/infer.h"
#include "core/onnx/tools.h"
#include "quantize/delay_transpose.h"
#include "quantize/emit/bf16_storage.h"
#include "quantize/emit/half.h"
#include "quantize/emit/single.h"

namespace mlopt::cli {
namespace {

struct ConvertOptions {
  VerbOptions verb;
  std::optional<int64_t> opset;
  std::string to;
  bool inline_functions = false;
  bool text = false;
};

/// The first opset whose Cast knows the type: before 6 it names types by strings.
int64_t cast_since(const std::string& type) { return type == "bf16" ? 13 : type == "fp16" ? 6 : 1; }

/// The options that decide the result, in the order in which they are applied.
std::string spec_of(const ConvertOptions& o) {
  std::vector<std::string> parts;
  if (o.inline_functions) parts.emplace_back("inline");
  if (o.opset) parts.push_back(fmt::format("opset={}", *o.opset));
  if (!o.to.empty()) parts.push_back("to=" + o.to);
  return "convert:" + join(parts, ",");
}

void to_opset(int64_t opset, Model& model, Json& changes) {
  if (opset == model.opset()) return;
  changes["opset"] = Json::object({{"from", model.opset()}, {"to", opset}});
  model = convert_opset(model, opset);
}

void to_type(const std::string& type, Model& model, VerbResult& result) {
  infer(model, standard_types);
  if (type == "fp32") {
    result.changes["values"] = quantize::emit_single(model);
    return;
  }
  if (type == "fp16") {
    PassContext context;
    context.standard_types = standard_types;
    run_pass(model, quantize::delay_transpose, context);
  }
  const quantize::Emitted made =
      type == "fp16" ? quantize::emit_half(model, {}) : quantize::emit_bf16_storage(model, {});
  result.changes["layers"] = made.layers.size();
  for (const auto& [node, reason] : made.left) {
    result.declined.push_back(Json::object({{"node", node}, {"reason", reason}}));
  }
}

VerbResult converted(const ConvertOptions& o, const Model& source) {
  VerbResult result;
  result.spec = spec_of(o);
  Model& model = result.model = clone(source);
  if (o.inline_functions || (!o.to.empty() && !model.functions.empty())) {
    result.changes["functions_inlined"] = model.functions.size();
    inline_functions(model);
  }
  if (o.opset) to_opset(*o.opset, model, result.changes);
  to_opset(std::max(model.opset(), cast_since(o.to)), model, result.changes);
  if (!o.to.empty()) to_type(o.to, model, result);
  return result;
}

/// A text is written as it is, without the ending of the verbs.
void check_text(const VerbOptions& verb) {
  if (!first_gate(verb).empty() || !verb.metric.empty())
    usage_error("a text is neither measured nor judged", "--text", "write a model file to have it judged");
  if (!verb.external.empty()) usage_error("a text holds all weights", "--external", "leave it or --text out");
}

void run(const ConvertOptions& o, Session& session) {
  if (o.text) check_text(o.verb);
  if (o.verb.no_bench && o.verb.bench) usage_error("--no-bench and --bench exclude each other");
  if (const int64_t since = cast_since(o.to); !o.to.empty() && o.opset.value_or(since) < since)
    usage_error(fmt::format("{} needs opset {}", o.to, since), "--opset");
  const Model source = begin_verb(o.verb, session);
  VerbResult result = converted(o, source);
  if (o.text) {
    write_text(o.verb.output, print_text(result.model) + "\n");
    session.report.data["written"] = true;
    return;
  }
  finish_verb(o.verb, source, std::move(result), session);
}

Action setup(Options& options) {
  const auto o = std::make_shared<ConvertOptions>();
  declare_verb(options, o->verb);
  options.add("--opset", o->opset, "N", "raise or lower the opset of ai.onnx");
  options
      .add("--to", o->to, "TYPE",
           "fp16: compute in float16 where runtimes can; bf16: store weights in bfloat16; fp32: float32 in place of "
           "both. Inputs and outputs keep their types")
      .choices = {"fp16", "bf16", "fp32"};
  options.add("--inline", o->inline_functions, "put the bodies of local functions in place of their calls");
  options.add("--text", o->text, "write ONNX's text form instead of a model file");
  return [o](Session& session) { run(*o, session); };
}

}  // namespace

Command convert_command() {
  return {.name = "convert",
          .arguments = "MODEL -o OUT",
          .summary = "change the form of a model: opset, float type, functions, where weights lie, text",
          .examples = {{{"convert model.onnx -o new.onnx --opset 21 --tolerance 1e-5",
                         "raise the opset, and check the outputs"},
                        {"convert model.onnx -o - --text", "print it as text"}}},
          .setup = setup};
}

}  // namespace mlopt::cli
