#include "core/rewrite/split_attention.h"

#include <algorithm>
#include <numeric>

#include "core/tensor/picked.h"

namespace mlopt {
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
  const NodeView attention = builder.view(*m.root);
  const auto columns = columns_of_parts(attention);
  if (!columns) return columns.error();
  return Replacement{split_attention(attention, *columns, builder)};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Attention", {Pattern::any("x"), Pattern::constant("weights")}).open().domain("com.microsoft"),
           rewrite}};
}

}  // namespace

Expected<std::array<int64_t, 3>> columns_of_parts(const NodeView& attention) {
  const Value* w = attention.node().input(kWeights);
  const Tensor* weights = w ? w->known_constant() : nullptr;
  if (!is_plain(attention)) return Decline{"it has a past, or a mask of another form"};
  if (!weights || weights->rank() != 2 || weights->size() == 0 || !is_float(weights->dtype()))
    return Decline{"its weights are no matrix of floats"};
  const int64_t width = weights->dim(1);
  const std::vector<int64_t> sizes = attention.get_ints("qkv_hidden_sizes", {width / 3, width / 3, width / 3});
  const auto fits = [&](int64_t size) { return size > 0 && size <= width; };
  if (sizes.size() != 3 || !std::ranges::all_of(sizes, fits) || sizes[0] + sizes[1] + sizes[2] != width)
    return Decline{"its weights do not make queries, keys and values"};
  return std::array{sizes[0], sizes[1], sizes[2]};
}

Value* split_attention(const NodeView& attention, const std::array<int64_t, 3>& columns, Builder& builder) {
  constexpr std::array kNames{"query", "key", "value"};
  const Node& node = attention.node();
  const Value* weights = node.input(kWeights);
  std::vector<Value*> inputs;
  int64_t from = 0;
  for (size_t i = 0; i < columns.size(); from += columns[i++]) {
    std::vector<int64_t> places(static_cast<size_t>(columns[i]));
    std::iota(places.begin(), places.end(), from);
    Value* part = builder.constant(weights->name + "_" + kNames[i], picked(*weights->known_constant(), 1, places));
    Type type = node.input(kX)->type;
    if (type.dims) type.dims->back() = columns[i];
    inputs.push_back(builder.op("MatMul", {node.input(kX), part}, {}, std::move(type)));
  }
  for (const int i : {static_cast<int>(kBias), static_cast<int>(kMask), static_cast<int>(kScores)})
    inputs.push_back(node.input(i));
  while (!inputs.back()) inputs.pop_back();
  std::vector<Attr> attrs;
  for (const char* name : {"num_heads", "unidirectional", "mask_filter_value", "scale"})
    if (const Attr* attr = node.attr(name)) attrs.push_back(*attr);
  return builder.contrib("MultiHeadAttention", std::move(inputs), std::move(attrs), node.output(0)->type);
}

const Pass split_attention_pass = {"split_attention", "the products inside of com.microsoft.Attention by themselves",
                                   rules};

}  // namespace mlopt
