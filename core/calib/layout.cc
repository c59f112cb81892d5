#include "core/calib/layout.h"

#include <numeric>

#include "core/ir/view.h"

namespace mlopt {
namespace {

/// count numbers: first, first + step, ...
std::vector<int64_t> places(int64_t count, int64_t step) {
  std::vector<int64_t> at(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) at[static_cast<size_t>(i)] = i * step;
  return at;
}

/// For each of the outer places, the inner ones behind it.
std::vector<int64_t> nested(const std::vector<int64_t>& outer, const std::vector<int64_t>& inner) {
  std::vector<int64_t> at;
  for (const int64_t a : outer)
    for (const int64_t b : inner) at.push_back(a + b);
  return at;
}

int64_t product(const Dims& dims, size_t from, size_t to) {
  return std::accumulate(dims.begin() + static_cast<int64_t>(from), dims.begin() + static_cast<int64_t>(to), int64_t{1},
                         std::multiplies<>());
}

/// [outputs, inputs / groups, kernel...]
bool lay_out_conv(const Node& node, const Dims& dims, Weight& w) {
  if (dims.size() < 3) return false;
  w.groups = NodeView(node, 0).get_int("group", 1);
  if (w.groups < 1) return false;
  w.kernel = product(dims, 2, dims.size());
  w.column_at = places(dims[1] * w.kernel, 1);
  w.row_at = places(dims[0], dims[1] * w.kernel);
  return true;
}

/// [inputs, outputs / groups, kernel...]
bool lay_out_conv_transpose(const Node& node, const Dims& dims, Weight& w) {
  if (dims.size() < 3) return false;
  w.groups = NodeView(node, 0).get_int("group", 1);
  w.kernel = product(dims, 2, dims.size());
  if (w.groups < 1 || dims[0] % w.groups != 0) return false;
  const int64_t inputs = dims[0] / w.groups, step = dims[1] * w.kernel;
  w.column_at = nested(places(inputs, step), places(w.kernel, 1));
  w.row_at = nested(places(w.groups, inputs * step), places(dims[1], w.kernel));
  return true;
}

/// [..., rows, columns], or [..., columns, rows] where it stands on the right.
bool lay_out_product(const Dims& dims, bool on_the_right, Weight& w) {
  if (dims.size() < 2) return false;
  const size_t rank = dims.size();
  const int64_t upper = dims[rank - 2], lower = dims[rank - 1];
  w.groups = product(dims, 0, rank - 2);
  const std::vector<int64_t> batches = places(w.groups, upper * lower);
  w.row_at = nested(batches, on_the_right ? places(lower, 1) : places(upper, lower));
  w.column_at = on_the_right ? places(upper, lower) : places(lower, 1);
  return true;
}

/// [directions, gates x hidden, inputs]
bool lay_out_recurrent(int operand, const Dims& dims, Weight& w) {
  if (dims.size() != 3 || (operand != 1 && operand != 2)) return false;
  w.groups = operand == 2 ? dims[0] : 1;  // both directions read the same input, but states of their own
  w.row_at = places(dims[0] * dims[1], dims[2]);
  w.column_at = places(dims[2], 1);
  return true;
}

bool is_set(const Node& node, const char* attr) { return NodeView(node, 0).get_int(attr, 0) != 0; }

/// The standard's operator that multiplies by that input as the node does, which ONNX Runtime may have joined with
/// others; "" where there is none.
std::string_view multiplies_as(const Node& node, int operand) {
  if (node.domain.empty()) return node.op;
  const std::string_view joined = "com.microsoft";
  if (node.is("FusedConv", joined)) return "Conv";
  if (node.is("FusedGemm", joined)) return "Gemm";
  if (node.is("Attention", joined)) return operand == 1 ? "MatMul" : "";
  const bool as_they_are = !is_set(node, "transBatchA") && !is_set(node, "transBatchB") &&
                           (operand == 0 || (!is_set(node, "transA") && !is_set(node, "transB")));
  return node.is("FusedMatMul", joined) && as_they_are ? "MatMul" : "";
}

bool find_places(const Node& node, int operand, const Dims& dims, Weight& w) {
  if (w.op == "Conv") return operand == 1 && lay_out_conv(node, dims, w);
  if (w.op == "ConvTranspose") return operand == 1 && lay_out_conv_transpose(node, dims, w);
  if (w.op == "Gemm") return operand == 1 && lay_out_product(dims, !is_set(node, "transB"), w);
  if (w.op == "MatMul") return operand <= 1 && lay_out_product(dims, operand == 1 || is_set(node, "transA"), w);
  if (w.op == "LSTM" || w.op == "GRU" || w.op == "RNN") return lay_out_recurrent(operand, dims, w);
  return false;
}

}  // namespace

bool lay_out(const Node& node, int operand, const Dims& dims, Weight& weight) {
  weight.op = multiplies_as(node, operand);
  if (!find_places(node, operand, dims, weight)) return false;
  weight.operand = operand;
  weight.rows = static_cast<int64_t>(weight.row_at.size());
  weight.columns = static_cast<int64_t>(weight.column_at.size());
  return weight.size() > 0 && weight.rows % weight.groups == 0;
}

void transpose(const Dims& dims, const std::vector<int64_t>& perm, Weight& weight) {
  const Dims strides = row_major_strides(dims);
  Dims seen(perm.size());  // the dims that the reader sees
  for (size_t i = 0; i < perm.size(); ++i) seen[i] = dims[static_cast<size_t>(perm[i])];
  const auto move = [&](int64_t& at) {
    int64_t rest = at, place = 0;
    for (size_t i = perm.size(); i-- > 0; rest /= seen[i])
      place += rest % seen[i] * strides[static_cast<size_t>(perm[i])];
    at = place;
  };
  for (int64_t& at : weight.row_at) move(at);
  for (int64_t& at : weight.column_at) move(at);
}

}  // namespace mlopt
