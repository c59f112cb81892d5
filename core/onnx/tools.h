#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/ir/model.h"
#include "core/ir/view.h"

namespace mlopt {

/// What ONNX's own checker and strict shape inference say, one sentence each.
struct Findings {
  std::vector<std::string> errors;  ///< empty when the model is valid
  /// What runtimes load all the same: a declared shape that is not the inferred one, and errors in the bodies that the
  /// standard itself gives for its operators.
  std::vector<std::string> warnings;
  std::vector<std::string> unseen;  ///< which of the two did not come to an end in time
};
Findings check_with_onnx(const Model& model);
/// The model in another `opset` of ai.onnx. Down to 11, what newer versions brought is written as the older ones have
/// it, and operators that they lack by others; up, and further down, goes ONNX's version converter. The IR version
/// follows. Throws Error{kUnsupported} naming the operator that cannot be converted.
Model convert_opset(const Model& model, int64_t opset);
/// Local functions replaced by their bodies, at every depth; names stay unique. Throws Error{kBadInput} for functions
/// that call themselves, and Error{kUnsupported} when an operator means something else in the function's opset.
void inline_functions(Model& model);
/// Operators that an older opset lacks replaced by the bodies that the standard gives for them, at every depth; what
/// has no body stays. Throws as inline_functions() does.
void expand_newer_operators(Model& model, int64_t opset);
/// Does the linked standard know this operator at this version?
bool known_operator(std::string_view domain, std::string_view op, int64_t opset);
/// The same of a node, without the making of ONNX's schemas (20 ms) where infer() has a rule for its operator.
bool known_operator(const Node& node, const Model& model);
/// A version of one of ai.onnx's operators, as the standard's schemas have it.
struct OperatorVersion {
  std::string op;
  int64_t opset = 0;    ///< since which it is this version
  size_t required = 0;  ///< operands that no node may omit
  size_t most = 0;      ///< operands; INT32_MAX: any number
};
std::vector<OperatorVersion> standard_operators();
/// Is it one of the operators that ONNX Runtime adds to the standard's own domain, at this opset? A model that has some
/// is valid for the checks here if it imports com.microsoft too.
bool added_to_standard(std::string_view domain, std::string_view op, int64_t opset);
/// The newest opset of ai.onnx and the newest IR version that the linked standard knows.
int64_t newest_opset();
int64_t newest_ir_version();
/// The lowest IR version that a model with this opset of ai.onnx may have, and the newest opset that came with an IR
/// version.
int64_t ir_version_for(int64_t opset);
int64_t opset_of_ir_version(int64_t ir_version);

/// The body that the standard gives for an operator that it defines by others (LayerNormalization, Gelu, ...), to be
/// run under the same opsets as the node; nothing for other operators and where the types known of the inputs do not
/// suffice.
std::optional<Function> standard_function(const NodeView& view);

}  // namespace mlopt
