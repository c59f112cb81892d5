#include "graphopt/low_rank.h"

#include <fmt/core.h>

#include <Eigen/Dense>
#include <algorithm>
#include <optional>
#include <utility>

#include "core/ir/view.h"

namespace mlopt::graphopt {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A product x W: W of [inputs, outputs], whichever way it is stored.
struct Layer {
  Node* node;
  bool transposed;  ///< stored as [outputs, inputs]
  int64_t inputs, outputs;
};

/// Nothing where the node is no product by a float32 constant matrix.
std::optional<Layer> layer_of(Node* node, const Model& model) {
  const Value* w = node->input(1);
  const Tensor* weight = w ? w->known_constant() : nullptr;
  if (!weight || !node->domain.empty() || weight->dtype() != DType::kF32) return std::nullopt;
  const NodeView view(*node, model.opset());
  const Dims& d = weight->dims();
  if (node->op == "MatMul" && d.size() == 2) return Layer{node, false, d[0], d[1]};
  if (node->op == "Gemm" && d.size() == 2 && view.get_int("transA", 0) == 0) {
    const bool turned = view.get_int("transB", 0) != 0;
    return Layer{node, turned, d[turned ? 1 : 0], d[turned ? 0 : 1]};
  }
  if (node->op == "Conv" && d.size() >= 3 && view.get_int("group", 1) == 1 &&
      std::all_of(d.begin() + 2, d.end(), [](int64_t k) { return k == 1; }))
    return Layer{node, true, d[1], d[0]};
  return std::nullopt;
}

Matrix matrix_of(const Layer& layer) {
  const Tensor numbers = layer.node->input(1)->constant->aligned();
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto map = [&](int64_t rows, int64_t columns) {
    return Eigen::Map<const Floats>(numbers.data<float>(), rows, columns);
  };
  if (layer.transposed) return map(layer.outputs, layer.inputs).transpose().cast<double>();
  return map(layer.inputs, layer.outputs).cast<double>();
}

/// W ~ first second, first of [inputs, rank].
struct Factors {
  Matrix first, second;
  double energy = 0;
};

/// The eigenvectors of the smaller of W W' and W' W are the singular vectors of that side, at a fraction of the cost.
Factors factors_of(const Matrix& w, double energy) {
  const bool wide = w.rows() <= w.cols();
  const Matrix gram = wide ? Matrix(w * w.transpose()) : Matrix(w.transpose() * w);
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(gram);
  const auto& squares = solver.eigenvalues();  // ascending
  const double all = squares.cwiseMax(0).sum();
  int64_t rank = 0;
  double kept = 0;
  while (rank < squares.size() && (rank == 0 || kept < energy * all)) kept += squares[squares.size() - ++rank];
  const Matrix basis = solver.eigenvectors().rightCols(rank);
  const double share = all > 0 ? std::min(kept / all, 1.0) : 1;
  if (wide) return {basis, basis.transpose() * w, share};
  return {w * basis, basis.transpose(), share};
}

Tensor tensor_of(const Matrix& m, bool transposed, size_t rank) {
  const Eigen::MatrixXf turned =
      transposed ? Eigen::MatrixXf(m.transpose().cast<float>()) : Eigen::MatrixXf(m.cast<float>());
  Dims dims(rank, 1);
  dims[0] = turned.rows();
  dims[1] = turned.cols();
  Tensor tensor(DType::kF32, dims);
  Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      tensor.mutable_data<float>(), turned.rows(), turned.cols()) = turned;
  return tensor;
}

/// Conv: the first keeps where the window moves, the second the bias. Zeros around it stay zeros between the two.
std::vector<Attr> first_attrs(const Node& node) { return node.op == "Conv" ? node.attrs : std::vector<Attr>{}; }

void write(const Layer& layer, const Factors& factors, Graph& graph) {
  Node* node = layer.node;
  const std::string hint = node->input(1)->name;
  const size_t rank = node->input(1)->constant->dims().size();
  const bool conv = node->op == "Conv";
  Value* first = graph.add_constant(hint + "_first", tensor_of(factors.first, conv, rank));
  Value* second = graph.add_constant(hint + "_second", tensor_of(factors.second, layer.transposed, rank));
  Node* thin = graph.add_op(conv ? "Conv" : "MatMul", {node->input(0), first}, first_attrs(*node), node,
                            node->output(0)->name + "_thin");
  if (!node->name.empty()) thin->name = thin->output(0)->name;
  graph.set_input(node, 0, thin->output(0));
  graph.set_input(node, 1, second);
  for (const char* moved : {"strides", "pads", "auto_pad", "dilations"})
    if (conv) node->remove_attr(moved);
}

/// Why the layer stays; nothing: it was factored.
std::optional<std::string> factor(const Layer& layer, double energy, Graph& graph, LowRank& done) {
  if (!layer.node->input(1)->single_use()) return "others read its weight";
  // At the least rank there is, would anything fall?
  if (layer.inputs * layer.outputs <= layer.inputs + layer.outputs) return "its weight is too small";
  const Factors factors = factors_of(matrix_of(layer), energy);
  const int64_t rank = factors.first.cols();
  if (!factors.first.allFinite() || !factors.second.allFinite()) return "its weight is not finite";
  if (rank * (layer.inputs + layer.outputs) >= layer.inputs * layer.outputs)
    return fmt::format("it needs rank {} of {}", rank, std::min(layer.inputs, layer.outputs));
  write(layer, factors, graph);
  done.layers.push_back({layer.node->called(), layer.node->op, layer.inputs, layer.outputs, rank, factors.energy});
  return std::nullopt;
}

}  // namespace

LowRank factor_low_rank(Model& model, double energy, const PassContext& context) {
  LowRank done;
  for (Node* node : all_nodes(*model.graph)) {
    const auto layer = layer_of(node, model);
    if (!layer || !context.allows(*node)) continue;
    if (auto why = factor(*layer, energy, *node->graph(), done)) done.left[node->called()] = std::move(*why);
  }
  remove_dead(model);
  infer(model, context.standard_types);
  return done;
}

}  // namespace mlopt::graphopt
