// Networks in bfloat16 (--precision bf16).
#include <limits>
#include <set>

#include "backends/cpu/dnn.h"
#include "backends/reference/backend.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

Tensor as_bf16(const Tensor& t) { return cast(cast(t, DType::kBF16), DType::kF32); }

/// The output of one operator on `x` and `w` in bfloat16 and of the reference.
struct Pair {
  Tensor bf16, reference;
};

Pair computed(const std::string& op, const Tensor& x, const Tensor& w, bool constant, std::vector<Attr> attrs = {}) {
  Net net;
  const Dims bias_dims{op == "Conv" ? w.dim(0) : w.dim(w.rank() - 1)};
  Value* left = net.input(x.dims());
  Value* right = constant ? net.constant(w) : net.graph().add_input("w", Type::tensor(DType::kF32, w.dims()));
  Value* y = op == "Conv" ? net.op(op, {left, right, net.constant(uniform(bias_dims, -1, 1))}, std::move(attrs))
                          : net.op("Add", {net.op(op, {left, right}), net.constant(uniform(bias_dims, -1, 1))});
  net.output(net.op("Relu", {y}));
  std::vector<Datum> inputs{x};
  if (!constant) inputs.emplace_back(w);
  CompileOptions options;
  options.precision = Precision::kBF16;
  return {cpu_with_fallback()->compile(net.model, options)->run(inputs)[0].tensor(),
          reference_backend()->compile(net.model, {})->run(inputs)[0].tensor()};
}

constexpr const char* kLacking = "this processor has no arithmetic on bfloat16";

/// A residual block of convolutions, its pooled channels in two products with a concatenation between.
Model residual_net() {
  Net net;
  uint64_t seed = 1;
  const auto weights = [&](const Dims& dims, double scale) {
    return net.constant(uniform(dims, -scale, scale, DType::kF32, seed++));
  };
  Value* x = net.input({2, 8, 12, 10});
  Value* a = net.op("Relu", {net.op("Conv", {x, weights({24, 8, 1, 1}, .3), weights({24}, 1)})});
  Value* b = net.op("HardSwish", {net.op("Conv", {a, weights({24, 24, 3, 3}, .1), weights({24}, 1)},
                                         {{"pads", std::vector<int64_t>{1, 1, 1, 1}, ""}})});
  Value* c = net.op("Conv", {b, weights({24, 24, 1, 1}, .3), weights({24}, 1)});
  Value* d = net.op("Relu", {net.op("Add", {c, a})});
  Value* e = net.op("Conv", {d, weights({16, 24, 1, 1}, .3)});
  Value* f = net.op("Conv", {net.op("Concat", {e, a}, {{"axis", int64_t{1}, ""}}), weights({7, 40, 1, 1}, .3)});
  Value* rows = net.op("Flatten", {f});
  Value* g = net.op("Gelu", {net.op("MatMul", {rows, weights({840, 33}, .1)})});
  net.output(net.op("Softmax", {net.op("MatMul", {g, weights({33, 5}, .3)})}));
  return std::move(net.model);
}

/// What a plan of the model keeps in bfloat16.
std::set<std::string> kept(Executable& compiled, const std::vector<Datum>& inputs) {
  const auto plan = compiled.plan_info(inputs);
  REQUIRE(plan);
  std::set<std::string> names;
  for (const PlanStepInfo& step : plan->steps) {
    CHECK(step.planned);
    for (const PlaceInfo& out : step.out)
      if (out.desc && out.desc->dtype == DType::kBF16) names.insert(step.op);
  }
  return names;
}

}  // namespace

TEST_CASE("a processor without bfloat16 says so, and float16 is for others") {
  Net net;
  net.output(net.op("Relu", {net.input({2})}));
  CompileOptions options;
  options.precision = Precision::kF16;
  CHECK(thrown_by([&] { cpu_with_fallback()->compile(net.model, options); }).code == Code::kUnsupported);
  if (cpu::has_bf16()) return;
  options.precision = Precision::kBF16;
  const Error error = thrown_by([&] { cpu_with_fallback()->compile(net.model, options); });
  CHECK(error.code == Code::kUnsupported);
  CHECK(says(error, "bf16"));
}

// Products of bfloat16 are exact in float32, so of numbers that bfloat16 has only the order of the sums differs.
TEST_CASE("products and convolutions of bfloat16 numbers are those of float32") {
  if (!cpu::has_bf16()) return skip(kLacking);
  for (const bool constant : {true, false}) {
    const Pair product = computed("MatMul", as_bf16(uniform({3, 17, 40}, -1, 1)),
                                  as_bf16(uniform({40, 33}, -1, 1, DType::kF32, 2)), constant);
    require_close(product.bf16, product.reference, 1e-5);
    const Pair conv = computed("Conv", as_bf16(uniform({2, 16, 9, 10}, -1, 1)),
                               as_bf16(uniform({24, 16, 3, 3}, -1, 1, DType::kF32, 2)), constant);
    require_close(conv.bf16, conv.reference, 1e-5);
  }
}

TEST_CASE("other numbers are rounded to bfloat16 before they are multiplied") {
  if (!cpu::has_bf16()) return skip(kLacking);
  const Tensor x = uniform({1, 32, 8, 8}, -1, 1), w = uniform({32, 32, 3, 3}, -1, 1, DType::kF32, 2);
  const Pair conv = computed("Conv", x, w, true), rounded = computed("Conv", as_bf16(x), as_bf16(w), true);
  require_close(conv.bf16, rounded.reference, 1e-5);
  CHECK(difference(conv.bf16, conv.reference).max_abs > 1e-3);
  require_close(conv.bf16, conv.reference, 0.1);  // 288 products, each with an error of at most 2^-8
}

TEST_CASE("what lies between products is kept in bfloat16") {
  if (!cpu::has_bf16()) return skip(kLacking);
  const Model model = residual_net();
  CompileOptions options;
  options.precision = Precision::kBF16;
  const auto compiled = cpu_with_fallback()->compile(model, options);
  const std::vector<Datum> inputs{uniform({2, 8, 12, 10}, -1, 1)};
  CHECK(kept(*compiled, inputs) ==
        std::set<std::string>{"Concat", "Conv", "Flatten", "FusedConv", "MatMulAdd", "Reorder"});
  const Tensor bf16 = compiled->run(inputs)[0].tensor();
  const Tensor reference = reference_backend()->compile(model, {})->run(inputs)[0].tensor();
  require_close(bf16, reference, 0.03);
  // In float32 nothing is.
  CHECK(kept(*cpu_with_fallback()->compile(model, {}), inputs).empty());
}

TEST_CASE("NaN and infinities pass through what is kept in bfloat16") {
  if (!cpu::has_bf16()) return skip(kLacking);
  Net net;
  Value* unit = net.constant(tensor({1, 1}, {1}));
  Value* x = net.input({4, 1});
  Value* a = net.op("Relu", {net.op("MatMul", {x, unit})});
  net.output(net.op("MatMul", {a, unit}));
  CompileOptions options;
  options.precision = Precision::kBF16;
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<Datum> inputs{tensor({4, 1}, {nan, inf, -inf, -2})};
  require_close(cpu_with_fallback()->compile(net.model, options)->run(inputs)[0].tensor(),
                tensor({4, 1}, {nan, inf, 0, 0}));
}

}  // namespace mlopt::test
