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

std::vector<std::string> findings_of(const Model& model) {
  std::vector<std::string> findings = verify(model);
  for (std::string& finding : check_with_onnx(model)) findings.push_back(std::move(finding));
  return findings;
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
  const std::vector<std::string> findings = findings_of(model);
  Report& report = session.report;
  report.data["path"] = o.model;
  report.data["valid"] = findings.empty();
  report.data["findings"] = findings;
  report.line(findings.empty() ? "the model is valid" : fmt::format("{} findings", findings.size()));
  for (const std::string& finding : findings) report.line("  " + finding);
  if (!o.target.empty()) judge_target(model, o.target, report);
  if (!findings.empty()) {
    session.failure =
        Error(Code::kBadInput, findings[0], o.model, "export the model again, or mend it where the finding says");
  }
}

Action setup(Options& options) {
  const auto o = std::make_shared<CheckOptions>();
  options.positional("MODEL", o->model, "the model file; - is standard input");
  options
      .add("--target", o->target, "T", "also tell what T cannot run: onnx (the plain standard), ort, cpu or reference")
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
