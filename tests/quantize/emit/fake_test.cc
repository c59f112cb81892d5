#include "quantize/emit/fake.h"

#include "backends/reference/backend.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "core/tensor/compare.h"
#include "quantize/emit/qdq.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

constexpr const char* kNet = R"(
    g (float[2,3,8,8] x, float[16,3,3,3] V, float[16] B, float[32,576] W) => (float[2,32] y) {
      [stem] a = Conv (x, V, B)
      r = Relu (a)
      f = Flatten (r)
      [head] y = Gemm <transB = 1> (f, W)
    })";

struct Both {
  Model qdq, fake;
  std::vector<std::string> steps;
};

Both write(const quantize::Spec& spec) {
  Both both;
  both.qdq = test::fixture(kNet, 21);
  infer(both.qdq, standard_types);
  const quantize::Plan plan = quantize::make_plan(both.qdq, spec);
  std::map<std::string, quantize::Grid> grids;
  for (Value* v : plan.values)
    if (plan.owner(v) == v) grids[v->name] = quantize::activation_grid({-1, 2.5}, spec.symmetric, spec.activation_bits);
  const quantize::Emitted done = quantize::emit_qdq(both.qdq, plan, grids, spec);
  infer(both.qdq, standard_types);
  both.fake = clone(both.qdq);
  both.steps = quantize::emit_fake(both.fake, done);
  CHECK(verify(both.fake).empty());
  return both;
}

Tensor run(const Model& model) {
  const Datum x = test::uniform({2, 3, 8, 8}, -1, 1, DType::kF32, 5);
  return reference_backend()->compile(model, {})->run(std::vector{x})[0].tensor();
}

}  // namespace

TEST_CASE("fake quantization computes what the quantized model computes") {
  for (const char* format : {"w8a8", "w8a8:symmetric", "w4a8:per_tensor", "w4a4"}) {
    INFO(format);
    const Both both = write(quantize::parse_spec(format));
    CHECK(both.steps.size() >= 4);  // of two weights, the input, and what Flatten passes on
    CHECK(test::operators(*both.fake.graph).find("QuantizeLinear") == std::string::npos);
    const Difference d = difference(run(both.fake), run(both.qdq));
    CHECK(d.sqnr_db > 40);
  }
}

TEST_CASE("what was not trained becomes the integers that it came from") {
  for (const char* format : {"w8a8", "w8a8:symmetric", "w4a8:per_tensor", "w4a4"}) {
    INFO(format);
    const quantize::Spec spec = quantize::parse_spec(format);
    Both both = write(spec);
    quantize::emit_trained(both.fake, spec);
    infer(both.fake, standard_types);
    CHECK(verify(both.fake).empty());
    CHECK(test::operators(*both.fake.graph) == test::operators(*both.qdq.graph));
    CHECK(difference(run(both.fake), run(both.qdq)).sqnr_db > 40);
  }
}

TEST_CASE("trained steps become scales") {
  const quantize::Spec spec = quantize::parse_spec("w4a4");
  Both both = write(spec);
  for (const std::string& name : both.steps) {
    Tensor& log = *both.fake.graph->find(name)->constant;
    std::vector<float> values = to_floats(log);
    for (float& v : values) v += 0.25f;
    log = Tensor::of<float>(log.dims(), values);
  }
  const Tensor expected = run(both.fake);
  quantize::emit_trained(both.fake, spec);
  CHECK(difference(run(both.fake), expected).sqnr_db > 40);
  CHECK(difference(run(both.fake), run(both.qdq)).sqnr_db < 30);
}
