// Dropout that gives its mask, or is told to train -> what it is kept by, and a choice; one that does neither stays.
#include "core/rewrite/lower/draw.h"
#include "core/rewrite/lower/passes.h"
#include "core/tensor/cast.h"

namespace mlopt::lower {
namespace {

/// What is kept: drawn where it is told to train, else all.
Value* mask_of(Builder& builder, const Node& node, double ratio, bool trains) {
  Value* x = node.input(0);
  const Type type = Type::tensor(DType::kBool, x->type.dims);
  if (!trains) {
    Value* all = builder.op("Equal", {x, x}, {}, type);  // but for NaN
    return builder.op("Or", {all, builder.op("Not", {all}, {}, type)}, {}, type);
  }
  Value* numbers = draw(builder, node, "SeededUniform", x);
  Value* limit = builder.constant("ratio", cast(Tensor::scalar(ratio), x->type.dtype));
  return builder.op("Not", {builder.op("Less", {numbers, limit}, {}, type)}, {}, type);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& node = *m.root;
  const NodeView view = builder.view(node);
  Value* x = node.input(0);
  const bool masked = node.outputs().size() > 1 && node.output(1);
  const Tensor* training = view.constant(2);
  if (node.input(2) && !training) return Decline{"whether it trains is not constant"};
  const bool trains = training && number_at(*training, 0) != 0;
  if (!masked && !trains) return Decline{"it drops nothing"};
  const auto ratio = view.number("ratio", 1, 0.5);
  if (!ratio || *ratio < 0 || *ratio >= 1 || !is_float(x->type.dtype)) return Decline{"its ratio is not constant"};
  Value* kept = mask_of(builder, node, *ratio, trains);
  const Type& type = node.output(0)->type;
  if (!trains) return Replacement{builder.op("Identity", {x}, {}, type), kept};
  const auto number = [&](const char* hint, double v) {
    return builder.constant(hint, cast(Tensor::scalar(v), x->type.dtype));
  };
  Value* scaled = builder.op("Div", {x, number("kept", 1 - *ratio)}, {}, type);
  Value* y = builder.op("Where", {kept, scaled, number("zero", 0)}, {}, type);
  return masked ? Replacement{y, kept} : Replacement{y};
}

std::vector<Rule> rules() { return {{Pattern::op("Dropout", {}).open(), rewrite}}; }

}  // namespace

const Pass dropout = {"dropout", "Dropout as a choice by random numbers", rules};

}  // namespace mlopt::lower
