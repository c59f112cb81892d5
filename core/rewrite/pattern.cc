#include "core/rewrite/pattern.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt {

Value* Match::value(std::string_view name) const {
  const auto it = values_.find(name);
  return it == values_.end() ? nullptr : it->second;
}

Node* Match::node(std::string_view name) const {
  Value* v = value(name);
  if (!v || !v->producer) internal_error("the pattern captured no operator of this name", std::string(name));
  return v->producer;
}

const Tensor& Match::constant(std::string_view name) const {
  Value* v = value(name);
  if (!v || !v->known_constant()) internal_error("the pattern captured no constant of this name", std::string(name));
  return *v->known_constant();
}

Pattern Pattern::any(std::string name) {
  Pattern p;
  p.name_ = std::move(name);
  return p;
}

Pattern Pattern::constant(std::string name) {
  Pattern p = any(std::move(name));
  p.kind_ = Kind::kConstant;
  return p;
}

Pattern Pattern::optional_constant(std::string name) {
  Pattern p = any(std::move(name));
  p.kind_ = Kind::kOptionalConstant;
  return p;
}

Pattern Pattern::op(std::string_view ops, std::vector<Pattern> inputs) {
  Pattern p;
  p.kind_ = Kind::kOp;
  p.ops_ = split(ops, '|');
  p.inputs_ = std::move(inputs);
  return p;
}

Pattern Pattern::as(std::string name) && {
  name_ = std::move(name);
  return std::move(*this);
}
Pattern Pattern::single_use() && {
  single_use_ = true;
  return std::move(*this);
}
Pattern Pattern::any_order() && {
  any_order_ = true;
  return std::move(*this);
}
Pattern Pattern::open() && {
  open_ = true;
  return std::move(*this);
}
Pattern Pattern::domain(std::string name) && {
  domain_ = std::move(name);
  return std::move(*this);
}

std::optional<Expected<Match>> Pattern::match(Node* node) const {
  Match m;
  m.root = node;
  std::string reason;
  switch (match_node(node, m, reason)) {
    case Outcome::kYes:
      return Expected<Match>(std::move(m));
    case Outcome::kDeclined:
      return Expected<Match>(Decline{std::move(reason)});
    case Outcome::kNo:
      break;
  }
  return std::nullopt;
}

Pattern::Outcome Pattern::match_value(Value* value, Match& m, std::string& reason) const {
  if (!value) return kind_ == Kind::kOptionalConstant ? Outcome::kYes : Outcome::kNo;
  if (kind_ == Kind::kOp) {
    if (!value->producer || value->output_index != 0) return Outcome::kNo;
    if (value->graph != m.root->graph()) return Outcome::kNo;  // what a body captures is computed once, outside
    return match_node(value->producer, m, reason);
  }
  if (kind_ != Kind::kAny && !value->known_constant()) {
    reason = fmt::format("'{}' is not constant", value->name);
    return Outcome::kDeclined;
  }
  if (!name_.empty()) m.values_[name_] = value;
  return Outcome::kYes;
}

Pattern::Outcome Pattern::match_node(Node* node, Match& m, std::string& reason) const {
  if (node->domain != domain_ || std::find(ops_.begin(), ops_.end(), node->op) == ops_.end()) return Outcome::kNo;
  const Match before = m;
  Outcome outcome = match_inputs(node, false, m, reason);
  if (outcome != Outcome::kYes && any_order_) {
    m = before;
    std::string other;
    const Outcome swapped = match_inputs(node, true, m, other);
    if (swapped == Outcome::kYes || outcome == Outcome::kNo) outcome = swapped, reason = other;
  }
  if (outcome != Outcome::kYes) {
    m = before;
    return outcome;
  }
  Value* y = node->output(0);
  if (!name_.empty()) m.values_[name_] = y;
  if (single_use_ && (!y || !y->single_use())) {
    reason = fmt::format("the result of {} is used elsewhere too", node->label());
    return Outcome::kDeclined;
  }
  return Outcome::kYes;
}

Pattern::Outcome Pattern::match_inputs(const Node* node, bool swapped, Match& m, std::string& reason) const {
  const int given = static_cast<int>(node->inputs().size()), wanted = static_cast<int>(inputs_.size());
  if (given > wanted && !open_) return Outcome::kNo;
  Outcome worst = Outcome::kYes;
  for (int i = 0; i < wanted; ++i) {
    Value* v = node->input(swapped && wanted == 2 ? 1 - i : i);
    const Outcome outcome = inputs_[static_cast<size_t>(i)].match_value(v, m, reason);
    if (outcome == Outcome::kNo) return outcome;  // the operators do not fit: no near miss
    if (outcome == Outcome::kDeclined) worst = outcome;
  }
  return worst;
}

}  // namespace mlopt
