#include <fmt/core.h>

#include <algorithm>

#include "cli/describe.h"
#include "cli/model_info.h"
#include "cli/verb/verb.h"
#include "core/base/error.h"
#include "core/ir/verify.h"
#include "core/onnx/tools.h"

namespace mlopt::cli {
namespace {

/// A type that the source leaves out may become known.
bool stays(const Value* before, const Value* after) {
  return before->name == after->name &&
         (before->type.kind == Type::Kind::kUnknown || to_string(before->type) == to_string(after->type));
}

void require_same(const std::vector<Value*>& source, const std::vector<Value*>& result, const char* what) {
  if (std::equal(source.begin(), source.end(), result.begin(), result.end(), stays)) return;
  internal_error(fmt::format("the {} changed from {} to {}", what, listed(source), listed(result)));
}

void require_same_interface(const Model& source, const Model& result) {
  require_same(required_inputs(*source.graph), required_inputs(*result.graph), "inputs");
  require_same(source.graph->outputs(), result.graph->outputs(), "outputs");
}

}  // namespace

std::vector<std::string> require_valid_result(const Model& source, const Model& result) {
  require_valid(result, "the command");
  require_same_interface(source, result);
  Findings findings = check_with_onnx(result);
  if (findings.errors.empty() && findings.warnings.empty()) return std::move(findings.unseen);
  const Findings before = check_with_onnx(source);
  if (!findings.errors.empty() && before.errors.empty() && before.unseen.empty()) {
    internal_error("ONNX's checker accepts the source, but not the result", findings.errors.front());
  }
  // A rewrite can bring to light that the source contradicts itself: that is no bug of the rewrite.
  std::vector<std::string> doubts = std::move(findings.unseen);
  if (before.warnings.empty()) doubts.insert(doubts.end(), findings.warnings.begin(), findings.warnings.end());
  return doubts;
}

}  // namespace mlopt::cli
