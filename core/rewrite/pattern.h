#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.h"
#include "core/ir/graph.h"

namespace mlopt {

/// The node that gives v where it is this operator of ONNX's own; null where it is another, or v is null.
inline const Node* producer_of(const Value* v, std::string_view op) {
  return v && v->producer && v->producer->is(op) ? v->producer : nullptr;
}

/// What a pattern captured: values and nodes by the names that the pattern gave them.
class Match {
 public:
  Node* root = nullptr;

  Value* value(std::string_view name) const;            ///< null when that optional part is absent
  Node* node(std::string_view name) const;              ///< the operator captured under this name
  const Tensor& constant(std::string_view name) const;  ///< data of a value that the pattern asked to be constant
  bool has(std::string_view name) const { return values_.contains(name); }

 private:
  friend class Pattern;
  std::map<std::string, Value*, std::less<>> values_;
};

/// A tree over operators of one graph, from a root down to its inputs; constants may be captured. Conditions live here,
/// so that a near miss can say why.
///
///   op("Mul|Add", {op("Conv", {any("x"), constant("w"), optional_constant("b")}).single_use(),
///   constant("c")}).any_order()
class Pattern {
 public:
  static Pattern any(std::string name);
  static Pattern constant(std::string name);
  static Pattern optional_constant(std::string name);
  static Pattern op(std::string_view ops, std::vector<Pattern> inputs);

  /// Captures the operator (and its first output) under this name.
  Pattern as(std::string name) &&;
  /// The operator's output is read once and is no output of the graph.
  Pattern single_use() &&;
  /// Two inputs in either order.
  Pattern any_order() &&;
  /// Further inputs than those named are allowed, whatever they are.
  Pattern open() &&;
  Pattern domain(std::string name) &&;

  /// The match at `node`; nothing when the operators do not fit; a Decline when they do and a condition does not hold.
  std::optional<Expected<Match>> match(Node* node) const;

 private:
  enum class Kind { kAny, kConstant, kOptionalConstant, kOp };
  enum class Outcome { kNo, kDeclined, kYes };

  Outcome match_value(Value* value, Match& m, std::string& reason) const;
  Outcome match_node(Node* node, Match& m, std::string& reason) const;
  Outcome match_inputs(const Node* node, bool swapped, Match& m, std::string& reason) const;

  Kind kind_ = Kind::kAny;
  std::string name_, domain_;
  std::vector<std::string> ops_;
  std::vector<Pattern> inputs_;
  bool single_use_ = false, any_order_ = false, open_ = false;
};

}  // namespace mlopt
