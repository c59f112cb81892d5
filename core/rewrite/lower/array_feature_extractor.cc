// ai.onnx.ml.ArrayFeatureExtractor(x, places) -> Gather along the last axis; of a list, as a row.
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  if (!x->type.dims || x->type.dims->empty()) return Decline{"its rank is not known"};
  const auto reshaped = [&](Value* v, const std::vector<int64_t>& dims) {
    return builder.op("Reshape", {v, builder.constant("dims", Tensor::ints(dims))}, {}, Type::tensor(v->type.dtype));
  };
  if (x->type.dims->size() == 1) x = reshaped(x, {1, -1});
  return Replacement{builder.op("Gather", {x, reshaped(m.value("places"), {-1})}, {{"axis", int64_t{-1}, ""}},
                                m.root->output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("ArrayFeatureExtractor", {Pattern::any("x"), Pattern::any("places")}).domain("ai.onnx.ml"),
           rewrite}};
}

}  // namespace

const Pass array_feature_extractor = {"array_feature_extractor", "ArrayFeatureExtractor as Gather", rules};

}  // namespace mlopt::lower
