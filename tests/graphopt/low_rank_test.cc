#include "graphopt/low_rank.h"

#include <cmath>

#include "core/ir/infer.h"
#include "core/ir/verify.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

/// first x second, of [inputs, outputs] and this rank, with `noise` on top.
Tensor matrix(int64_t inputs, int64_t outputs, int64_t rank, double noise, bool transposed) {
  const Tensor a = uniform({inputs, rank}, -1, 1, DType::kF32, 1), b = uniform({rank, outputs}, -1, 1, DType::kF32, 2),
               n = uniform({inputs, outputs}, -noise, noise, DType::kF32, 3);
  Tensor w(DType::kF32, transposed ? Dims{outputs, inputs} : Dims{inputs, outputs});
  for (int64_t i = 0; i < inputs; ++i)
    for (int64_t o = 0; o < outputs; ++o) {
      double sum = n.data<float>()[i * outputs + o];
      for (int64_t r = 0; r < rank; ++r) sum += a.data<float>()[i * rank + r] * b.data<float>()[r * outputs + o];
      w.mutable_data<float>()[transposed ? o * inputs + i : i * outputs + o] = static_cast<float>(sum);
    }
  return w;
}

struct Result {
  std::string operators;
  graphopt::LowRank made;
  double largest = 0;
};

Result factored(Net& net, double energy, PassContext context = pass_context()) {
  infer(net.model);
  Model model = clone(net.model);
  Result result;
  result.made = graphopt::factor_low_rank(model, energy, context);
  CHECK(verify(model).empty());
  result.operators = listed_ops(model);
  result.largest = changed_by(net.model, model).max_abs;
  return result;
}

Attr number(const char* name, int64_t value) { return {name, value, ""}; }

}  // namespace

TEST_CASE("a product by a matrix of low rank becomes two thinner ones") {
  for (const bool wide : {false, true}) {
    Net net;
    const int64_t inputs = wide ? 12 : 20, outputs = wide ? 20 : 12;
    net.output(net.op("MatMul", {net.input({3, inputs}), net.constant(matrix(inputs, outputs, 3, 0, false))}));
    const Result r = factored(net, 0.999999);
    CHECK(r.operators == "MatMul 2");
    REQUIRE(r.made.layers.size() == 1);
    CHECK(r.made.layers[0].rank == 3);
    CHECK(r.made.layers[0].energy > 0.999999);
    CHECK(r.largest < 1e-5);
  }
}

TEST_CASE("what is lost is the energy that was given up") {
  Net net;
  const Tensor w = matrix(16, 16, 2, 0.1, false);
  net.output(net.op("MatMul", {net.input({1, 16}), net.constant(w)}));
  infer(net.model);
  Model model = clone(net.model);
  const auto made = graphopt::factor_low_rank(model, 0.9, pass_context());
  REQUIRE(made.layers.size() == 1);
  const Tensor& a = *model.graph->nodes()[0]->input(1)->constant;
  const Tensor& b = *model.graph->nodes()[1]->input(1)->constant;
  double lost = 0, all = 0;
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t o = 0; o < 16; ++o) {
      double sum = 0;
      for (int64_t r = 0; r < a.dim(1); ++r)
        sum += double{a.data<float>()[i * a.dim(1) + r]} * b.data<float>()[r * 16 + o];
      const double before = w.data<float>()[i * 16 + o];
      lost += (sum - before) * (sum - before);
      all += before * before;
    }
  CHECK(std::abs(1 - lost / all - made.layers[0].energy) < 1e-5);
  CHECK(made.layers[0].energy >= 0.9);
}

TEST_CASE("Gemm keeps its bias and factors, Conv of 1x1 its steps and pads") {
  Net gemm;
  gemm.output(gemm.op(
      "Gemm", {gemm.input({3, 20}), gemm.constant(matrix(20, 16, 2, 0, true)), gemm.constant(uniform({16}, -1, 1))},
      {number("transB", 1), {"alpha", 0.5F, ""}, {"beta", 2.0F, ""}}));
  const Result dense = factored(gemm, 0.99999);
  CHECK(dense.operators == "Gemm 1, MatMul 1");
  CHECK(dense.largest < 1e-5);
  Net conv;
  conv.output(conv.op("Conv",
                      {conv.input({2, 20, 5, 5}), conv.constant(matrix(20, 16, 2, 0, true).reshaped({16, 20, 1, 1})),
                       conv.constant(uniform({16}, -1, 1))},
                      {{"strides", std::vector<int64_t>{2, 1}, ""}, {"pads", std::vector<int64_t>{1, 0, 1, 2}, ""}}));
  const Result window = factored(conv, 0.99999);
  CHECK(window.operators == "Conv 2");
  CHECK(window.largest < 1e-5);
}

TEST_CASE("what would not get less stays, with the reason") {
  Net full;
  full.output(full.op("MatMul", {full.input({3, 16}), full.constant(uniform({16, 16}, -1, 1))}));
  const Result high = factored(full, 0.999);
  CHECK(high.operators == "MatMul 1");
  REQUIRE(high.made.left.size() == 1);
  CHECK(high.made.left.begin()->second.find("it needs rank") == 0);
  PassContext skipped = pass_context();
  skipped.skip = {"*"};
  CHECK(factored(full, 0.1, skipped).operators == "MatMul 1");
  Net shared;
  Value* w = shared.constant(matrix(16, 16, 1, 0, false));
  shared.output(shared.op("MatMul", {shared.op("MatMul", {shared.input({3, 16}), w}), w}));
  const Result twice = factored(shared, 0.9);
  CHECK(twice.operators == "MatMul 2");
  REQUIRE(!twice.made.left.empty());
  CHECK(twice.made.left.begin()->second == "others read its weight");
  Net larger;  // a window of more than one place is no matrix
  larger.output(larger.op("Conv", {larger.input({1, 16, 6, 6}), larger.constant(uniform({16, 16, 3, 3}, -1, 1))}));
  CHECK(factored(larger, 0.5).operators == "Conv 1");
}

}  // namespace mlopt::test
