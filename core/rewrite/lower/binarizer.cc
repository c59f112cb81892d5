// ai.onnx.ml.Binarizer(x) -> 1 where x is above the threshold, else 0.
#include "core/rewrite/lower/passes.h"
#include "core/tensor/cast.h"

namespace mlopt::lower {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const Type& type = x->type;
  if (!is_float(type.dtype)) return Decline{"not of floats"};
  Value* threshold =
      builder.constant("threshold", cast(Tensor::scalar(builder.view(*m.root).get_float("threshold", 0)), type.dtype));
  Value* above = builder.op("Greater", {x, threshold}, {}, Type::tensor(DType::kBool, type.dims));
  return Replacement{builder.op("Cast", {above}, {{"to", static_cast<int64_t>(type.dtype), ""}}, type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Binarizer", {Pattern::any("x")}).domain("ai.onnx.ml"), rewrite}}; }

}  // namespace

const Pass binarizer = {"binarizer", "Binarizer as a comparison", rules};

}  // namespace mlopt::lower
