// op(x, c) where c is one number, or a row, behind axes of length 1 that broadcasting adds by itself -> the number or
// the row alone, which is what every other rule looks for. Exporters that turn NHWC into NCHW write four axes for one
// number.
#include <algorithm>

#include "core/rewrite/fusion/passes.h"

namespace mlopt::fusion {
namespace {

/// The shape without axes of length 1 in front, where what is left is a number or a row; nothing for other shapes.
std::optional<Dims> shrunk(const Tensor& t) {
  if (t.rank() < 2 || t.dim(0) != 1 || t.size() != std::max<int64_t>(1, t.dim(t.rank() - 1))) return std::nullopt;
  return t.size() == 1 ? Dims{} : Dims{t.size()};
}

/// Has another operand at least so many axes, so that the result keeps them?
bool others_have(const std::vector<Value*>& inputs, const Value* but, size_t axes) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const Value* v) { return v && v != but && v->type.dims && v->type.dims->size() >= axes; });
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  std::vector<Value*> inputs = m.root->inputs();
  const char* why = "";
  bool found = false;
  for (Value*& v : inputs) {
    const Tensor* t = v ? v->known_constant() : nullptr;
    const auto dims = t ? shrunk(*t) : std::nullopt;
    if (!dims) continue;
    if (builder.opset() < (m.root->is("Min") || m.root->is("Max") ? 8 : 7))
      return Decline{"its opset broadcasts in another way"};
    if (!others_have(inputs, v, t->dims().size())) {
      why = "no other operand is known to have as many axes";
      continue;
    }
    v = builder.successor(v, t->reshaped(*dims));
    found = true;
  }
  if (!found) return Decline{why};
  return Replacement{builder.op(m.root->op, std::move(inputs), m.root->attrs, m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Add|Sub|Mul|Div|Pow|Min|Max|Where|Equal|Less|Greater|LessOrEqual|GreaterOrEqual",
                       {Pattern::any(""), Pattern::any("")})
               .open(),
           rewrite}};
}

}  // namespace

const Pass shrink_constants = {"shrink_constants", "drop axes of length 1 from constants that broadcasting adds itself",
                               rules};

}  // namespace mlopt::fusion
