// MultiHeadAttention(q, k, v, bias) -> MultiHeadAttention of sums with parts of the bias, which stays one value: for
// training, where it changes.
#include "core/rewrite/lower/passes.h"

namespace mlopt::lower {
namespace {

enum Input { kQuery, kKey, kValue, kBias };

Expected<Replacement> rewrite(const Match& m, Builder& b) {
  const Node& node = *m.root;
  if (!node.input(kBias)) return Decline{};
  if (b.opset() < 10) return Decline{"Slice has no inputs before opset 10"};
  std::vector<Value*> inputs = node.inputs();
  int64_t from = 0;
  for (const int i : {kQuery, kKey, kValue}) {
    const auto dims = inputs[static_cast<size_t>(i)] ? inputs[static_cast<size_t>(i)]->type.dims : std::nullopt;
    const auto width = dims && dims->size() == 3 ? dims->back().value() : std::nullopt;
    if (!width) return Decline{"its operands are no rows of a known size"};
    const auto place = [&](int64_t at) { return b.constant("place", Tensor::ints({at})); };
    Value* part = b.op("Slice", {node.input(kBias), place(from), place(from + *width)});
    inputs[static_cast<size_t>(i)] = b.op("Add", {inputs[static_cast<size_t>(i)], part});
    from += *width;
  }
  inputs[kBias] = nullptr;
  while (!inputs.back()) inputs.pop_back();
  return Replacement{b.contrib(node.op, std::move(inputs), node.attrs, node.output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("MultiHeadAttention", {}).open().domain("com.microsoft"), rewrite}}; }

}  // namespace

const Pass attention_bias = {"attention_bias", "the bias of multi-head attention added before it", rules};

}  // namespace mlopt::lower
