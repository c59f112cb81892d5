#include "core/train/mixed_precision.h"

#include <cmath>
#include <map>

#include "backends/cpu/backend.h"
#include "backends/reference/backend.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "core/train/graphs.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

Value* weight(Net& net, const std::string& name, Dims dims, double low = -0.5, double high = 0.5) {
  return net.graph().add_constant(name, uniform(dims, low, high, DType::kF32, 3 + net.graph().values().size()));
}

/// y = relu(x v) w.
Net two_layers() {
  Net net;
  Value* h = net.op("Relu", {net.op("MatMul", {net.input({6, 5}), weight(net, "v", {5, 4})})});
  net.output(net.op("MatMul", {h, weight(net, "w", {4, 3})}));
  infer(net.model, standard_types);
  return net;
}

/// Convolution, BatchNormalization, transposed convolution with bias, pooling, a product with bias.
Net convolutions() {
  Net net;
  Value* y = net.op("Conv", {net.input({4, 3, 6, 6}), weight(net, "conv.w", {5, 3, 3, 3}), weight(net, "conv.b", {5})});
  y = net.op("BatchNormalization", {y, weight(net, "bn.scale", {5}, 0.5, 1), weight(net, "bn.bias", {5}),
                                    weight(net, "bn.mean", {5}), weight(net, "bn.var", {5}, 0.5, 1)});
  y = net.op("ConvTranspose", {net.op("Relu", {y}), weight(net, "up.w", {5, 4, 2, 2}), weight(net, "up.b", {4})});
  y = net.op("Flatten", {net.op("GlobalAveragePool", {net.op("Tanh", {y})})});
  net.output(net.op("Gemm", {y, weight(net, "fc.w", {4, 3}), weight(net, "fc.b", {3})}));
  infer(net.model, standard_types);
  return net;
}

/// Attention of one head whose queries and keys share a weight, a residual, LayerNormalization, and two layers.
Net transformer() {
  Net net;
  Value *x = net.input({4, 7, 8}), *shared = weight(net, "qk.w", {8, 8});
  Value *q = net.op("MatMul", {x, shared}), *k = net.op("MatMul", {net.op("Tanh", {x}), shared});
  Value* scores = net.op("MatMul", {q, net.op("Transpose", {k}, {{"perm", std::vector<int64_t>{0, 2, 1}, {}}})});
  Value* mixed = net.op("MatMul", {net.op("Softmax", {scores}), net.op("MatMul", {x, weight(net, "v.w", {8, 8})})});
  Value* y = net.op("LayerNormalization", {net.op("Add", {x, mixed}), weight(net, "ln.scale", {8}, 0.5, 1.5)});
  y = net.op("Gelu", {net.op("MatMul", {y, weight(net, "up.w", {8, 16})})});
  y = net.op("MatMul", {y, weight(net, "down.w", {16, 3})});
  net.output(net.op("ReduceMean", {y, net.constant(Tensor::ints({1}))}, {{"keepdims", int64_t{0}, {}}}));
  infer(net.model, standard_types);
  return net;
}

/// A product of three axes, and one of a batch.
Net einsums() {
  Net net;
  const auto einsum = [&](Value* a, Value* b, const char* equation) {
    return net.op("Einsum", {a, b}, {{"equation", std::string(equation), {}}});
  };
  Value* y = net.op("Tanh", {einsum(net.input({4, 7, 8}), weight(net, "a", {8, 3, 2}), "bij,jkl->bikl")});
  net.output(einsum(y, weight(net, "b", {7, 2, 3}), "bikl,ilk->bk"));
  infer(net.model, standard_types);
  return net;
}

train::Recipe in_precision(DType type, const char* loss = "mse") {
  train::Recipe r;
  r.loss = train::find_loss(loss);
  r.optimizer = train::find_optimizer("sgd");
  r.precision.type = type;
  return r;
}

/// What a run leaves in the state of the gradients.
std::map<std::string, Tensor> gradients(Backend& backend, const train::TrainingGraphs& graphs,
                                        std::vector<Datum> inputs) {
  CompileOptions options;
  options.state = graphs.state;
  options.updates = graphs.gradient_updates;
  if (graphs.scaled) inputs.push_back(tensor({}, {65536}));
  backend.compile(graphs.gradients, options)->run(inputs);
  std::map<std::string, Tensor> found;
  for (size_t i = 0; i < graphs.parameters.size(); ++i)
    found[graphs.parameters[i]] = graphs.state->at(graphs.gradient_states[i]);
  return found;
}

std::map<std::string, Tensor> gradients_of(const Net& net, const train::Recipe& recipe, Backend& backend) {
  const Dims x = *net.model.graph->inputs()[0]->type.static_dims();
  const train::TrainingGraphs graphs = train::make_graphs(net.model, {x}, recipe, standard_types);
  verify(graphs.gradients);
  std::vector<double> labels;
  for (int64_t i = 0; i < x[0]; ++i) labels.push_back(static_cast<double>(i % 3));
  return gradients(backend, graphs, {uniform(x, -1, 1), tensor({x[0]}, labels, DType::kI64)});
}
std::map<std::string, Tensor> gradients_of(const Net& net, const train::Recipe& recipe, bool fast) {
  return gradients_of(net, recipe, fast ? *cpu_with_fallback() : *reference_backend());
}

/// |a - b| / |b|, of all numbers together.
double relative(const std::map<std::string, Tensor>& a, const std::map<std::string, Tensor>& b) {
  REQUIRE(a.size() == b.size());
  double off = 0, size = 0;
  for (const auto& [name, tensor] : b) {
    const std::vector<double> x = to_doubles(a.at(name)), y = to_doubles(tensor);
    for (size_t i = 0; i < y.size(); ++i) {
      off += (x[i] - y[i]) * (x[i] - y[i]);
      size += y[i] * y[i];
    }
  }
  return std::sqrt(off / size);
}

double epsilon(DType type) { return type == DType::kF16 ? 0x1p-11 : 0x1p-8; }

/// Matrices in double, rounded where the graph rounds.
struct Matrix {
  int64_t rows, columns;
  std::vector<double> at;
};
Matrix matrix(const Tensor& t) { return {t.dim(0), t.dim(1), to_doubles(t)}; }
Matrix rounded(Matrix m, DType type) {
  m.at = to_doubles(cast(cast(Tensor::of<double>({m.rows, m.columns}, m.at), DType::kF32), type));
  return m;
}
Matrix turned(const Matrix& m) {
  Matrix t{m.columns, m.rows, std::vector<double>(m.at.size())};
  for (int64_t i = 0; i < m.rows; ++i)
    for (int64_t j = 0; j < m.columns; ++j)
      t.at[static_cast<size_t>(j * m.rows + i)] = m.at[static_cast<size_t>(i * m.columns + j)];
  return t;
}
Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{a.rows, b.columns, std::vector<double>(static_cast<size_t>(a.rows * b.columns))};
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < b.columns; ++j)
      for (int64_t k = 0; k < a.columns; ++k)
        c.at[static_cast<size_t>(i * b.columns + j)] +=
            a.at[static_cast<size_t>(i * a.columns + k)] * b.at[static_cast<size_t>(k * b.columns + j)];
  return c;
}

/// The gradients of v and w of two_layers() under the mean squared error, by hand.
std::pair<Matrix, Matrix> by_hand(const Matrix& x, const Matrix& v, const Matrix& w, const Matrix& target, DType type,
                                  double scale) {
  const auto half = [&](const Matrix& m) { return rounded(m, type); };
  const Matrix xh = half(x), vh = half(v), wh = half(w);
  const Matrix h = half(product(xh, vh));
  Matrix a = h;
  for (double& number : a.at) number = std::max(number, 0.0);
  Matrix dy = half(product(half(a), wh));
  for (size_t i = 0; i < dy.at.size(); ++i)
    dy.at[i] = 2 * (dy.at[i] - target.at[i]) / static_cast<double>(dy.at.size()) * scale;
  dy = half(dy);
  Matrix da = half(product(dy, turned(wh)));
  for (size_t i = 0; i < da.at.size(); ++i) da.at[i] *= h.at[i] > 0;
  std::pair<Matrix, Matrix> found{half(product(turned(xh), half(da))), half(product(turned(half(a)), dy))};
  for (Matrix* m : {&found.first, &found.second})
    for (double& number : m->at) number /= scale;
  return found;
}

}  // namespace

TEST_CASE("operands are rounded to half precision, sums are float32, and results are rounded once") {
  const Tensor x = uniform({6, 5}, -1, 1), target = uniform({6, 3}, -1, 1, DType::kF32, 2);
  for (const DType type : {DType::kBF16, DType::kF16})
    for (const bool fast : {false, true}) {
      const Net net = two_layers();
      const Matrix v = matrix(*net.model.graph->find("v")->constant), w = matrix(*net.model.graph->find("w")->constant);
      const auto [dv, dw] = by_hand(matrix(x), v, w, matrix(target), type, type == DType::kF16 ? 65536 : 1);
      const auto [pv, pw] = by_hand(matrix(x), v, w, matrix(target), DType::kF32, 1);
      const train::TrainingGraphs graphs = train::make_graphs(net.model, {{6, 5}}, in_precision(type), standard_types);
      auto found = gradients(fast ? *cpu_with_fallback() : *reference_backend(), graphs, {x, target});
      INFO(name(type) << (fast ? " cpu" : " reference"));
      CHECK(found.at("v").dtype() == DType::kF32);
      CHECK(to_doubles(found.at("v")) == dv.at);
      CHECK(to_doubles(found.at("w")) == dw.at);
      CHECK(difference(found.at("w"), Tensor::of<double>({4, 3}, pw.at)).max_abs > 0.01 * epsilon(type));
    }
}

TEST_CASE("gradients in half precision are those in float32 up to its rounding") {
  for (const auto& [net, name] :
       {std::pair{&convolutions, "convolutions"}, {&transformer, "transformer"}, {&einsums, "einsums"}})
    for (const DType type : {DType::kBF16, DType::kF16}) {
      const auto exact = gradients_of(net(), in_precision(DType::kF32, "cross-entropy"), false);
      const auto plain = gradients_of(net(), in_precision(type, "cross-entropy"), false);
      const auto fast = gradients_of(net(), in_precision(type, "cross-entropy"), true);
      INFO(name << " " << mlopt::name(type) << ": " << relative(plain, exact) / epsilon(type));
      // A handful of roundings in a row, each by half of epsilon at most.
      CHECK(relative(plain, exact) < 4 * epsilon(type));
      CHECK(relative(plain, exact) > 0.1 * epsilon(type));
      // Terms of a sum may be rounded before it or not.
      CHECK(relative(fast, plain) < 2 * epsilon(type));
      for (const auto& [parameter, tensor] : plain) CHECK(tensor.dtype() == DType::kF32);
    }
}

TEST_CASE("the CPU backend computes all of it by itself") {
  for (const auto& net : {convolutions, transformer})
    for (const DType type : {DType::kBF16, DType::kF16}) {
      const auto alone = cpu_backend({}, standard_types);
      CHECK(!gradients_of(net(), in_precision(type, "cross-entropy"), *alone).empty());
    }
}

TEST_CASE("what a product reads and gives becomes half precision, each value once, and names stay") {
  Net net = transformer();
  const std::string output = net.graph().outputs()[0]->name;
  const std::vector<Value*> trained = {net.graph().find("qk.w"), net.graph().find("up.w"), net.graph().find("down.w")};
  const train::HalfProducts done = train::lower_products(net.model, {DType::kF16}, trained);
  verify(net.model);
  CHECK(done.half == 7);
  CHECK(done.kept.empty());
  CHECK(net.graph().outputs()[0]->name == output);
  CHECK(net.graph().outputs()[0]->type.dtype == DType::kF32);
  CHECK(net.graph().find("qk.w")->uses.size() == 1);  // the Cast, which both products read
  CHECK(net.graph().find("qk.w")->uses[0].node->output(0)->uses.size() == 2);
  CHECK(!net.graph().find("v.w"));  // is rounded for good
  CHECK(net.graph().find("v.w/half")->constant->dtype() == DType::kF16);
  for (const Node* node : net.graph().nodes()) {
    if (node->op == "Cast") continue;
    INFO(node->label());
    const bool half = node->output(0)->type.dtype == DType::kF16;
    CHECK(half == (node->op == "MatMul"));
    for (const Value* v : node->inputs())
      if (is_float(v->type.dtype)) CHECK(v->type.dtype == (half ? DType::kF16 : DType::kF32));
  }
}

TEST_CASE("products that are named, work on positions, or have constants too large stay float32") {
  Net net;
  Value* x = net.input({2, 3});
  const auto product = [&](Value* a, Value* b, const char* name) {
    Value* y = net.op("MatMul", {a, b});
    y->producer->name = name;
    net.output(y);
    return y;
  };
  product(x, weight(net, "a.w", {3, 2}), "a");
  product(x, weight(net, "b.w", {3, 2}), "b");
  product(x, weight(net, "c.w", {3, 2}), "c");
  product(x, net.graph().add_constant("d.w", tensor({3, 1}, {1, 70000, 2})), "d");
  product(x, net.graph().add_constant("f.w", tensor({3, 1}, {1, -INFINITY, 2})), "f");
  Value* places = net.graph().add_input("places", Type::tensor(DType::kI64, Dims{4}));
  Value* column =
      net.op("Unsqueeze", {net.op("Cast", {places}, {{"to", int64_t{1}, {}}}), net.constant(Tensor::ints({1}))});
  product(column, weight(net, "e.w", {1, 4}), "e");
  infer(net.model, standard_types);
  const train::MixedPrecision fp16{DType::kF16, {"a", "b.*"}}, bf16{DType::kBF16};
  Model other = clone(net.model);
  const train::HalfProducts done = train::lower_products(net.model, fp16, {});
  CHECK(done.half == 2);
  CHECK(done.kept == std::map<std::string, int64_t>{{"named by --keep-fp32", 2},
                                                    {"an operand is integers, such as positions", 1},
                                                    {"a constant is too large", 1}});
  for (const char* name : {"a.w", "b.w", "d.w", "e.w"}) CHECK(net.graph().find(name));
  CHECK(train::lower_products(other, bf16, {}).half == 5);
}

TEST_CASE("a glob of what stays float32 has to name something") {
  const Net net = two_layers(), more = convolutions();
  const Model* both[] = {&net.model, &more.model};
  train::require_named({DType::kBF16, {"v", "MatMul*", "fc.?"}}, both);
  CHECK(says(thrown_by([&] {
               train::require_named({DType::kBF16, {"v", "fcw"}}, both);
             }),
             "no node and no weight is called 'fcw': --keep-fp32"));
}

TEST_CASE("the loss of a model that is not float32 has no scale") {
  Net net = two_layers();
  for (Value* v : net.graph().values()) {
    v->type.dtype = DType::kF16;
    if (v->constant) v->constant = cast(*v->constant, DType::kF16);
  }
  const auto make = [&](DType type) { train::make_graphs(net.model, {{6, 5}}, in_precision(type), standard_types); };
  make(DType::kBF16);
  CHECK(says(thrown_by([&] { make(DType::kF16); }), "--precision fp16 is for models in float32"));
}

TEST_CASE("what is computed again in the backward pass is computed in the same precision") {
  train::Recipe recipe = in_precision(DType::kBF16, "cross-entropy");
  const auto kept = gradients_of(transformer(), recipe, true);
  recipe.recompute = train::parse_recompute("sqrt");
  const auto again = gradients_of(transformer(), recipe, true);
  for (const auto& [name, tensor] : kept) CHECK(to_doubles(again.at(name)) == to_doubles(tensor));
}

}  // namespace mlopt::test
