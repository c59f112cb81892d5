#include "graphopt/passes/moved_operators.h"

#include <algorithm>
#include <string_view>

namespace mlopt::graphopt {
namespace {

using Made = std::optional<Moved>;

/// What is to be moved, and to where.
struct Move {
  const Node& node;
  const AxisOrder& order;
  const Builder& builder;
  const std::function<bool(const Value&)>& assumed;

  NodeView view() const { return builder.view(node); }
  int64_t rank() const { return static_cast<int64_t>(order.axes().size()); }
  /// The source's axis; nothing for one that is out of range.
  std::optional<int64_t> axis(int64_t of) const {
    of += of < 0 ? rank() : 0;
    return of < 0 || of >= rank() ? std::nullopt : std::optional(order.axes()[static_cast<size_t>(of)]);
  }
  /// What v is of, in that order; null where it is of another.
  Value* source(Value* v) const {
    if (!v) return nullptr;
    for (const Ordered& found : orders_of(v, builder))
      if (found.order == order) return found.source;
    return assumed && assumed(*v) ? v : nullptr;
  }
  /// Puts what input i is of in its place. False where it is of another order.
  bool take(Moved& made, size_t i) const {
    const std::vector<Value*>& inputs = node.inputs();
    Value* found = source(inputs[i]);
    if (!found) return false;
    made.inputs[i] = found;
    made.served +=
        std::find(inputs.begin(), inputs.end(), inputs[i]) - inputs.begin() == static_cast<std::ptrdiff_t>(i);
    return true;
  }
};

/// With all inputs as they are, but the first one of the source; the rule changes what counts axes.
Made of_first(const Move& m) {
  Moved made{m.node.inputs(), {}, m.node.attrs};
  return !made.inputs.empty() && m.take(made, 0) ? Made(made) : std::nullopt;
}

/// A constant that can be read before as well: one number, or axes that stay in order.
std::optional<Tensor> moved_constant(const Tensor& c, const AxisOrder& order) {
  const std::vector<int64_t>& axes = order.axes();
  const auto rank = static_cast<size_t>(c.rank());
  if (rank > axes.size() || c.size() == 0) return std::nullopt;
  if (c.size() == 1) return c;
  Dims dims(order.source_rank(), 1);
  int64_t last = -1;
  for (size_t i = 0; i < rank; ++i) {
    if (c.dim(static_cast<int>(i)) == 1) continue;
    const int64_t axis = axes[axes.size() - rank + i];
    if (axis < last) return std::nullopt;
    dims[static_cast<size_t>(axis)] = c.dim(static_cast<int>(i));
    last = axis;
  }
  return c.reshaped(dims);
}

/// Operators of equal or broadcast inputs.
Made binary(const Move& m) {
  if (m.builder.opset() < 7 || m.node.inputs().size() != 2) return std::nullopt;
  Moved made{m.node.inputs(), {}, m.node.attrs};
  for (size_t i = 0; i < 2; ++i) {
    if (m.take(made, i)) continue;
    const Value* v = made.inputs[i];
    const Tensor* constant = v ? v->known_constant() : nullptr;
    const auto before = constant ? moved_constant(*constant, m.order) : std::nullopt;
    if (!before) return std::nullopt;
    if (before->dims() != constant->dims()) made.constants.emplace_back(i, *before);
  }
  return made.served ? Made(made) : std::nullopt;
}

void set(std::vector<Attr>& attrs, const char* name, Attr value) {
  std::erase_if(attrs, [&](const Attr& a) { return a.name == name; });
  attrs.push_back(std::move(value));
}

Made concat(const Move& m) {
  Moved made{m.node.inputs(), {}, m.node.attrs};
  for (size_t i = 0; i < made.inputs.size(); ++i)
    if (!m.take(made, i)) return std::nullopt;
  const auto axis = m.axis(m.view().get_int("axis", 1));
  if (!axis) return std::nullopt;
  set(made.attrs, "axis", {"axis", *axis, {}});
  return made;
}

Made softmax(const Move& m) {
  const auto axis = m.axis(m.view().get_int("axis", -1));
  Made made = m.builder.opset() < 13 || !axis ? std::nullopt : of_first(m);  // rows of several axes before
  if (made) set(made->attrs, "axis", {"axis", *axis, {}});
  return made;
}

/// Begins and ends by axis -> by the source's axis, where what is gone gets none.
std::optional<std::vector<int64_t>> moved_pads(const std::vector<int64_t>& pads, const std::vector<int64_t>& axes,
                                               const Move& m) {
  std::vector<int64_t> before(2 * m.order.source_rank(), 0);
  if (pads.size() != 2 * axes.size()) return std::nullopt;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = m.axis(axes[i]);
    if (!axis) return std::nullopt;
    before[static_cast<size_t>(*axis)] = pads[i];
    before[static_cast<size_t>(*axis) + m.order.source_rank()] = pads[axes.size() + i];
  }
  return before;
}

Made pad(const Move& m) {
  const NodeView view = m.view();
  const auto pads = view.ints("pads", 1);
  std::vector<int64_t> axes;
  if (m.node.input(3)) {
    const auto named = view.ints("axes", 3);
    if (!named) return std::nullopt;
    axes = *named;
  } else {
    for (int64_t i = 0; i < m.rank(); ++i) axes.push_back(i);
  }
  const auto before = pads && m.builder.opset() >= 2 ? moved_pads(*pads, axes, m) : std::nullopt;
  Made made = before ? of_first(m) : std::nullopt;
  if (!made) return std::nullopt;
  if (m.node.attr("pads")) {
    set(made->attrs, "pads", {"pads", *before, {}});
  } else {
    made->constants.emplace_back(1, Tensor::ints(*before));
    if (made->inputs.size() > 3) made->inputs.resize(3);
  }
  return made;
}

Made slice(const Move& m) {
  if (m.builder.opset() < 10 || !m.node.input(3)) return std::nullopt;
  const auto axes = m.view().ints("axes", 3);
  Made made = axes ? of_first(m) : std::nullopt;
  if (!made) return std::nullopt;
  std::vector<int64_t> before;
  for (const int64_t of : *axes) {
    const auto axis = m.axis(of);
    if (!axis) return std::nullopt;
    before.push_back(*axis);
  }
  made->constants.emplace_back(3, Tensor::ints(before));
  return made;
}

struct Operators {
  std::string_view names;  // with spaces between
  Made (*moved)(const Move&);
};

constexpr Operators kOperators[] = {
    {"Relu Clip Sigmoid Tanh Exp Log Sqrt Abs Neg Erf LeakyRelu Elu Selu Softplus Cast Identity Floor Ceil HardSigmoid "
     "HardSwish Mish Gelu Softsign Reciprocal",
     of_first},
    {"Add Sub Mul Div Pow Max Min PRelu", binary},
    {"Concat", concat},
    {"Softmax LogSoftmax", softmax},
    {"Pad", pad},
    {"Slice", slice},
};

bool listed(std::string_view names, std::string_view op) {
  for (size_t at = 0; at < names.size();) {
    const size_t end = std::min(names.find(' ', at), names.size());
    if (names.substr(at, end - at) == op) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

Value* Moved::make(Builder& builder, const Node& node) const {
  std::vector<Value*> read = inputs;
  for (const auto& [place, tensor] : constants) {
    const Value* old = node.input(static_cast<int>(place));
    read[place] = builder.constant(old ? old->name : node.op, tensor);
  }
  Value* y = builder.op(node.op, std::move(read), attrs);
  y->type = Type::tensor(node.output(0)->type.dtype);
  return y;
}

std::optional<Moved> moved(const Node& node, const AxisOrder& order, const Builder& builder,
                           const std::function<bool(const Value&)>& assumed) {
  if (!node.domain.empty() || node.outputs().size() != 1 || order.has_new_axes()) return std::nullopt;
  for (const auto& [names, rule] : kOperators)
    if (listed(names, node.op)) return rule({node, order, builder, assumed});
  return std::nullopt;
}

std::string movable_operators() {
  std::string all;
  for (const auto& [names, rule] : kOperators) all += (all.empty() ? "" : "|") + std::string(names);
  std::replace(all.begin(), all.end(), ' ', '|');
  return all;
}

}  // namespace mlopt::graphopt
