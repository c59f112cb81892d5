#include "quantize/split_attention.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/tensor/picked.h"

namespace mlopt::quantize {
namespace {

enum Input { kX, kWeights, kBias, kMask, kPast, kScores, kPastLength };

/// Has it nothing that MultiHeadAttention takes in another form?
bool is_plain(const NodeView& attention) {
  const Node& node = attention.node();
  const Value* mask = node.input(kMask);
  const bool rows_of_keys = !mask || (mask->type.dims && mask->type.dims->size() == 2);
  return node.outputs().size() == 1 && rows_of_keys && !node.input(kPast) && !node.input(kPastLength) &&
         attention.get_int("do_rotary", 0) == 0 && attention.get_int("past_present_share_buffer", 0) == 0;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& node = *m.root;
  const NodeView attention = builder.view(node);
  const Tensor& weights = m.constant("weights");
  if (!is_plain(attention)) return Decline{"it has a past, or a mask of another form"};
  if (weights.rank() != 2 || weights.size() == 0 || !is_float(weights.dtype()))
    return Decline{"its weights are no matrix of floats"};
  const int64_t width = weights.dim(1);
  const std::vector<int64_t> sizes = attention.get_ints("qkv_hidden_sizes", {width / 3, width / 3, width / 3});
  const auto fits = [&](int64_t size) { return size > 0 && size <= width; };
  if (sizes.size() != 3 || !std::ranges::all_of(sizes, fits) || sizes[0] + sizes[1] + sizes[2] != width)
    return Decline{"its weights do not make queries, keys and values"};
  constexpr std::array kNames{"query", "key", "value"};
  std::vector<Value*> inputs;
  int64_t from = 0;
  for (size_t i = 0; i < 3; from += sizes[i++]) {
    std::vector<int64_t> columns(static_cast<size_t>(sizes[i]));
    std::iota(columns.begin(), columns.end(), from);
    Value* part = builder.constant(node.input(kWeights)->name + "_" + kNames[i], picked(weights, 1, columns));
    inputs.push_back(builder.op("MatMul", {node.input(kX), part}));
  }
  for (const int i : {static_cast<int>(kBias), static_cast<int>(kMask), static_cast<int>(kScores)})
    inputs.push_back(node.input(i));
  while (!inputs.back()) inputs.pop_back();
  std::vector<Attr> attrs;
  for (const char* name : {"num_heads", "unidirectional", "mask_filter_value", "scale"})
    if (const Attr* attr = node.attr(name)) attrs.push_back(*attr);
  return Replacement{builder.contrib("MultiHeadAttention", std::move(inputs), std::move(attrs), node.output(0)->type)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Attention", {Pattern::any("x"), Pattern::constant("weights")}).open().domain("com.microsoft"),
           rewrite}};
}

}  // namespace

const Pass split_attention = {"split_attention", "the products inside of com.microsoft.Attention by themselves", rules};

}  // namespace mlopt::quantize
