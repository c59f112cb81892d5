#include "core/ir/macs.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "core/base/checked.h"
#include "core/ir/trips.h"

namespace mlopt {
namespace {

using Count = std::optional<int64_t>;

/// Nothing also where an assumed size is too small for the model, which makes inferred ones negative.
std::optional<Dims> dims_of(const Value* value) {
  if (!value) return std::nullopt;
  if (value->constant) return value->constant->dims();
  std::optional<Dims> dims = value->type.static_dims();
  if (dims && std::any_of(dims->begin(), dims->end(), [](int64_t d) { return d < 0; })) return std::nullopt;
  return dims;
}

Count product(const Dims& factors) {
  Count result = 1;
  for (const int64_t factor : factors) {
    if (result) result = checked_mul(*result, factor);
  }
  return result;
}

/// Elements of the output, each a sum over the weight without its output channels.
Count convolution(const NodeView& view, int weight) {
  const auto w = dims_of(view.node().input(weight)), y = dims_of(view.node().output(0));
  if (!w || !y || w->size() < 2) return std::nullopt;
  Dims factors = *y;
  factors.insert(factors.end(), w->begin() + 1, w->end());
  return product(factors);
}
Count conv(const NodeView& view) { return convolution(view, 1); }
Count qlinear_conv(const NodeView& view) { return convolution(view, 3); }

/// Elements of the input, each spread over the weight without its input channels.
Count conv_transpose(const NodeView& view) {
  const auto w = dims_of(view.node().input(1)), x = dims_of(view.node().input(0));
  if (!w || !x || w->size() < 2) return std::nullopt;
  Dims factors = *x;
  factors.insert(factors.end(), w->begin() + 1, w->end());
  return product(factors);
}

/// Elements of the output times the length of the sums.
Count matrix_product(const NodeView& view, std::string_view transposed) {
  const auto a = dims_of(view.node().input(0)), y = dims_of(view.node().output(0));
  if (!a || !y || a->empty()) return std::nullopt;
  const bool flipped = a->size() > 1 && view.get_int(transposed, 0) != 0;
  Dims factors = *y;
  factors.push_back(flipped ? (*a)[a->size() - 2] : a->back());
  return product(factors);
}
Count matmul(const NodeView& view) { return matrix_product(view, "transA"); }

/// Gates x hidden x (input + hidden), for each step, batch item and direction.
Count recurrent(const NodeView& view, int64_t gates) {
  const auto x = dims_of(view.node().input(0)), r = dims_of(view.node().input(2));
  if (!x || !r || x->size() != 3 || r->size() != 3) return std::nullopt;
  const int64_t directions = (*r)[0], hidden = (*r)[2];
  const Count width = checked_add((*x)[2], hidden);
  return width ? product({(*x)[0], (*x)[1], directions, gates, hidden, *width}) : std::nullopt;
}
Count lstm(const NodeView& view) { return recurrent(view, 4); }
Count gru(const NodeView& view) { return recurrent(view, 3); }
Count rnn(const NodeView& view) { return recurrent(view, 1); }

/// The product of the sizes of all letters, when there is something to multiply.
Count einsum(const NodeView& view) {
  if (view.node().inputs().size() < 2) return 0;
  const std::string equation = view.get_string("equation", "");
  std::set<char> seen;
  Dims factors;
  size_t at = 0;
  for (const Value* input : view.node().inputs()) {
    const auto dims = dims_of(input);
    if (!dims) return std::nullopt;
    for (const int64_t dim : *dims) {
      while (at < equation.size() && equation[at] == ' ') ++at;
      if (at >= equation.size() || !std::isalpha(static_cast<unsigned char>(equation[at]))) return std::nullopt;
      if (seen.insert(equation[at++]).second) factors.push_back(dim);
    }
    at = equation.find(',', at);
    at = at == std::string::npos ? equation.size() : at + 1;
  }
  return product(factors);
}

/// Two products of query length x key length x width for each batch item; Q, K, V either [B, H, S, D] or [B, S, H*D].
Count attention(const NodeView& view) {
  const auto q = dims_of(view.node().input(0)), k = dims_of(view.node().input(1)), v = dims_of(view.node().input(2));
  if (!q || !k || !v || q->size() < 3 || k->size() != q->size() || v->size() != q->size()) return std::nullopt;
  const int64_t keys = (*k)[k->size() - 2];
  Dims scores = *q, values = *q;
  scores.push_back(keys);
  values.back() = v->back();
  values.push_back(keys);
  const Count first = product(scores), second = product(values);
  return first && second ? checked_add(*first, *second) : std::nullopt;
}

struct Rule {
  std::string_view domain, op;
  Count (*count)(const NodeView&);
};

constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr Rule kRules[] = {
    {"", "Conv", conv},
    {"", "ConvInteger", conv},
    {"", "DeformConv", conv},
    {"", "QLinearConv", qlinear_conv},
    {"mlopt", "MatMulAdd", matmul},
    {"mlopt", "QLinearConvAdd", qlinear_conv},
    {"", "ConvTranspose", conv_transpose},
    {"", "MatMul", matmul},
    {"", "MatMulInteger", matmul},
    {"", "QLinearMatMul", matmul},
    {"", "Gemm", matmul},
    {"", "LSTM", lstm},
    {"", "GRU", gru},
    {"", "RNN", rnn},
    {"", "Einsum", einsum},
    {"", "Attention", attention},
    {kMicrosoft, "FusedConv", conv},
    {kMicrosoft, "NhwcFusedConv", conv},
    {kMicrosoft, "FusedGemm", matmul},
    {kMicrosoft, "FusedMatMul", matmul},
    {kMicrosoft, "QGemm", matmul},
    {kMicrosoft, "MatMulNBits", matmul},
    {kMicrosoft, "MatMulBnb4", matmul},
    {kMicrosoft, "DynamicQuantizeMatMul", matmul},
    {kMicrosoft, "MatMulIntegerToFloat", matmul},
    {kMicrosoft, "MultiHeadAttention", attention},
};

/// `times` is nothing where it is no int64.
void add_graph(const Graph& graph, const Model& model, Count times, MacTotal& total) {
  for (const Node* node : graph.nodes()) {
    const NodeView view(*node, model.opset(node->domain));
    const Count count = macs(view);
    const Count all = count == 0 ? count : count && times ? checked_mul(*count, *times) : std::nullopt;
    const Count sum = all ? checked_add(total.macs, *all) : std::nullopt;
    if (sum)
      total.macs = *sum;
    else
      ++total.unknown_nodes;
    for (const Graph* body : node->bodies())
      add_graph(*body, model, times ? checked_mul(*times, trips(view, *body).value_or(1)) : times, total);
  }
}

}  // namespace

std::optional<int64_t> macs(const NodeView& view) {
  for (const Rule& rule : kRules) {
    if (view.node().is(rule.op, rule.domain)) return rule.count(view);
  }
  return 0;
}

MacTotal total_macs(const Model& model) {
  MacTotal total;
  add_graph(*model.graph, model, 1, total);
  return total;
}

}  // namespace mlopt
