#include <fmt/core.h>

#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/verb/verb.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/tools.h"

namespace mlopt::cli {
namespace {

struct ConvertOptions {
  VerbOptions verb;
  std::optional<int64_t> opset;
  bool inline_functions = false;
  bool text = false;
};

/// The options that decide the result, in the order in which they are applied.
std::string spec_of(const ConvertOptions& o) {
  std::vector<std::string> parts;
  if (o.inline_functions) parts.emplace_back("inline");
  if (o.opset) parts.push_back(fmt::format("opset={}", *o.opset));
  return "convert:" + join(parts, ",");
}

Model converted(const ConvertOptions& o, const Model& source, Json& changes) {
  Model model = clone(source);
  if (o.inline_functions) {
    changes["functions_inlined"] = model.functions.size();
    inline_functions(model);
  }
  if (o.opset && *o.opset != model.opset()) {
    changes["opset"] = Json::object({{"from", model.opset()}, {"to", *o.opset}});
    model = convert_opset(model, *o.opset);
  }
  return model;
}

void run(const ConvertOptions& o, Session& session) {
  const Model source = begin_verb(o.verb, session);
  VerbResult result;
  result.spec = spec_of(o);
  result.model = converted(o, source, result.changes);
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
  options.add("--inline", o->inline_functions, "put the bodies of local functions in place of their calls");
  options.add("--text", o->text, "write ONNX's text form instead of a model file");
  return [o](Session& session) { run(*o, session); };
}

}  // namespace

Command convert_command() {
  return {.name = "convert",
          .arguments = "MODEL -o OUT",
          .summary = "change the form of a model: opset, functions, where weights lie, text",
          .examples = {{{"convert model.onnx -o new.onnx --opset 21 --tolerance 1e-5",
                         "raise the opset, and check the outputs"},
                        {"convert model.onnx -o - --text", "print it as text"}}},
          .setup = setup};
}

}  // namespace mlopt::cli
