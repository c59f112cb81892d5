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

/// A type, or a rank, that the source leaves out may become known.
bool stays(const Value* before, const Value* after) {
  const Type &was = before->type, &is = after->type;
  const bool open = was.kind == Type::Kind::kTensor && !was.dims && is.kind == was.kind && is.dtype == was.dtype;
  return before->name == after->name && (was.kind == Type::Kind::kUnknown || open || to_string(was) == to_string(is));
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

Validity validity_of(const Model& source, const Model& result) {
  require_valid(result, "the command");
  require_same_interface(source, result);
  Findings findings = check_with_onnx(result);
  if (findings.errors.empty() && findings.warnings.empty()) return {"", std::move(findings.unseen)};
  const Findings before = check_with_onnx(source);
  const bool rejected = !findings.errors.empty() && before.errors.empty() && before.unseen.empty();
  // A rewrite can bring to light that the source contradicts itself: that is no bug of the rewrite.
  Validity found{rejected ? findings.errors.front() : "", std::move(findings.unseen)};
  if (before.warnings.empty())
    found.doubts.insert(found.doubts.end(), findings.warnings.begin(), findings.warnings.end());
  return found;
}

void require_accepted(const Validity& validity, const Verification& verification, const Model& source) {
  if (validity.rejection.empty()) return;
  if (verification.comparison || verification.cannot_run)
    internal_error("ONNX's checker accepts the source, but not the result", validity.rejection);
  input_error(fmt::format("the model does not run ({}), and ONNX's checker rejects what it is rewritten to: {}",
                          verification.problem, validity.rejection),
              source.path, "mend the model where it does not run; mlopt run tries it");
}

}  // namespace mlopt::cli
