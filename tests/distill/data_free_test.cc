#include "distill/data_free.h"

#include <cmath>

#include "core/data/gather.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

/// A normalization of two channels that remembers these means and variances, and a head of two classes.
Net teacher(const std::vector<double>& means, const std::vector<double>& variances) {
  Net net;
  Graph& graph = net.graph();
  const auto known = [&](const char* name, const std::vector<double>& v) {
    return graph.add_constant(name, tensor({2}, v));
  };
  Value* x = net.op("BatchNormalization", {net.input({8, 2, 3, 3}), known("scale", {1, 1}), known("bias", {0, 0}),
                                           known("mean", means), known("var", variances)});
  Value* pooled = net.op("Flatten", {net.op("GlobalAveragePool", {x})});
  net.output(net.op("MatMul", {pooled, graph.add_constant("w", tensor({2, 2}, {1, -1, -1, 1}))}));
  infer(net.model, standard_types);
  return net;
}

}  // namespace

TEST_CASE("samples are made that have the statistics that a teacher remembers") {
  const Net net = teacher({3, -1}, {4, 0.25});
  const auto backend = cpu_with_fallback();
  distill::DataFreeSettings settings;
  settings.samples = 20;
  settings.batch = 8;
  settings.steps = 300;
  const auto data = distill::make_samples(net.model, *backend, settings, standard_types);
  REQUIRE(data->size() == 20);
  CHECK(!data->labelled());
  const Tensor batch = data->batch(8, 8).inputs[0].tensor();
  REQUIRE(batch.dims() == Dims{8, 2, 3, 3});
  const std::vector<double> x = to_doubles(batch);
  for (size_t c = 0; c < 2; ++c) {
    double mean = 0, square = 0;
    for (size_t n = 0; n < 8; ++n)
      for (size_t i = 0; i < 9; ++i) mean += x[(n * 2 + c) * 9 + i] / 72;
    for (size_t n = 0; n < 8; ++n)
      for (size_t i = 0; i < 9; ++i) square += std::pow(x[(n * 2 + c) * 9 + i] - mean, 2) / 72;
    CHECK(std::fabs(mean - (c == 0 ? 3 : -1)) < 0.3);
    CHECK(square == Approx(c == 0 ? 4 : 0.25).epsilon(0.25));
  }
  CHECK(to_doubles(data->batch(0, 8).inputs[0].tensor()) != x);  // each batch begins with other noise
}

TEST_CASE("a teacher that remembers nothing, or takes what cannot be made, is refused") {
  const auto backend = cpu_with_fallback();
  distill::DataFreeSettings settings;
  settings.samples = 4;
  Net plain;
  plain.output(plain.op("Relu", {plain.input({2, 3})}));
  infer(plain.model, standard_types);
  const auto refused = [&](const Model& model) {
    return thrown_by([&] { distill::make_samples(model, *backend, settings, standard_types); });
  };
  CHECK(says(refused(plain.model), "no BatchNormalization of the teacher remembers"));
  Net two = teacher({0, 0}, {1, 1});
  two.output(two.op("Relu", {two.graph().add_input("z", Type::tensor(DType::kF32, Dims{2, 3}))}));
  CHECK(says(refused(two.model), "one input only"));
}

}  // namespace mlopt::test
