// RotaryEmbedding with cosines and sines of one sample for many -> a row of them for each: the standard has no
// broadcasting there and ONNX Runtime refuses it, but PyTorch's exporter writes it.
#include "core/rewrite/fusion/passes.h"
#include "core/rewrite/fusion/rope_angles.h"

namespace mlopt::fusion {
namespace {

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value *x = m.value("x"), *cosines = m.value("cosines"), *sines = m.value("sines");
  if (builder.target == Target::kKernels) return Decline{"our own kernels broadcast"};
  for (const Value* v : {x, cosines, sines})
    if (!v->type.dims || v->type.dims->size() < 3) return Decline{"its shapes are not known"};
  if (!x->type.dims->front().known()) return Decline{"how many samples there are is not known"};
  const auto one = [](const Value* v) { return v->type.dims->front().is(1); };
  if (one(x) || !one(cosines) || !one(sines)) return Decline{"its tables have a row for each sample"};
  Value* turned =
      builder.op("RotaryEmbedding", {x, for_each_sample(cosines, x, builder), for_each_sample(sines, x, builder)},
                 m.root->attrs, m.root->output(0)->type);
  return Replacement{turned};
}

std::vector<Rule> rules() {
  return {
      {Pattern::op("RotaryEmbedding", {Pattern::any("x"), Pattern::any("cosines"), Pattern::any("sines")}), rewrite}};
}

}  // namespace

const Pass expand_rotary_tables = {"expand_rotary_tables", "give RotaryEmbedding its angles for each sample", rules};

}  // namespace mlopt::fusion
