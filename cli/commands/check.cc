#include <fmt/core.h>

#include <memory>

#include "cli/commands.h"
#include "cli/targets.h"
#include "core/base/error.h"
#include "core/ir/verify.h"
#include "core/onnx/io.h"
#include "core/onnx/tools.h"

namespace mlopt::cli {
namespace {

struct CheckOptions {
  std::string model, target;
};

Findings findings_of(const Model& model) {
  Findings found = check_with_onnx(model);
  const std::vector<std::string> own = verify(model);
  found.errors.insert(found.errors.begin(), own.begin(), own.end());
  return found;
}

void list(const std::vector<std::string>& sentences, std::string_view title, Report& report) {
  if (!sentences.empty()) report.line(fmt::format("{} {}", sentences.size(), title));
  for (const std::string& sentence : sentences) report.line("  " + sentence);
}

void judge_target(const Model& model, const std::string& target, Report& report) {
  const std::vector<Unsupported> nodes = unsupported_by(model, target);
  Json& list = report.data["unsupported"] = Json::array();
  for (const Unsupported& node : nodes) {
    list.push_back(Json::object({{"node", node.node}, {"reason", node.reason}}));
    report.line(fmt::format("{}: {}", node.node, node.reason));
  }
  report.data["target"] = target;
  const std::string words =
      nodes.empty() ? target + " runs every operator" : fmt::format("{} cannot run {} nodes", target, nodes.size());
  report.gates.push_back({"target", target, nodes.size(), nodes.empty(), words});
}

void run(const CheckOptions& o, Session& session) {
  const Model model = read_model(o.model);
  const auto [errors, warnings, unseen] = findings_of(model);
  Report& report = session.report;
  report.data["path"] = o.model;
  const bool valid = errors.empty() && unseen.empty();
  report.data["valid"] = errors.empty() && !valid ? Json() : Json(valid);
  report.data["findings"] = errors;
  report.data["warnings"] = warnings;
  if (valid) report.line("the model is valid");
  list(errors, "findings", report);
  list(warnings, "warnings", report);
  if (!o.target.empty()) judge_target(model, o.target, report);
  if (!errors.empty()) {
    session.failure =
        Error(Code::kBadInput, errors[0], o.model, "export the model again, or mend it where the finding says");
  } else if (!valid) {
    session.failure = Error(Code::kUnsupported, unseen[0], o.model, "try again where less else is running");
  }
}

Action setup(Options& options) {
  const auto o = std::make_shared<CheckOptions>();
  options.positional("MODEL", o->model, "the model file; - is standard input");
  options
      .add("--target", o->target, "T",
           "also tell what T cannot run, and why: onnx (the plain standard), ort, openvino, tensorrt, cpu or reference")
      .choices = target_names();
  return [o](Session& session) { run(*o, session); };
}

}  // namespace

Command check_command() {
  return {.name = "check",
          .arguments = "MODEL",
          .summary = "is it a valid model; what is wrong, and where",
          .examples = {{{"check model.onnx", "by ONNX's checker, its shape inference and our own verifier"},
                        {"check model.onnx --target onnx", "also name the operators that are not in the standard"}}},
          .setup = setup};
}

}  // namespace mlopt::cli
