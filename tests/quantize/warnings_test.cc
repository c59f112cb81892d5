#include "quantize/warnings.h"

#include <algorithm>
#include <limits>

#include "backends/reference/backend.h"
#include "core/onnx/tools.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

namespace mlopt::quantize {
namespace {

constexpr const char* kNet = R"(g (float[N,64] x, float[64,48] V, float[48,32] W) => (float[N,32] y) {
  [bad] a = MatMul (x, V)
  [good] y = MatMul (a, W)
})";

/// With `x` as one of the first layer's weights.
Quantized made(const std::string& spec, float x, const std::map<std::string, WeightFormat>& plan = {}) {
  Model source = test::fixture(kNet);
  Tensor& weight = *source.graph->find("V")->constant;
  weight.mutable_data<float>()[weight.size() - 1] = x;
  const test::MemoryData data(test::uniform({8, 64}, -1, 1, DType::kF32, 1), std::nullopt);
  const auto backend = reference_backend();
  const Runner runner{*backend, inline_functions};
  Means means;
  means.runner = &runner;
  means.passes = test::pass_context();
  means.data = &data;
  means.error_samples = 0;
  Spec planned = parse_spec(spec);
  planned.plan = plan;
  return quantize(source, planned, means);
}

}  // namespace

TEST_CASE("a layer whose weight is not finite stays in float, and it is said") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();
  for (const char* spec : {"w4g32:method=rtn", "nf4g16:method=rtn", "w3:method=rtn;per_tensor",
                           "codebook8v4:method=rtn", "w8a8-dynamic", "w8a8"})
    for (const float x : {kNaN, kInfinity, -kInfinity, std::numeric_limits<float>::max()}) {
      INFO(spec << ' ' << x);
      const bool finite = x == std::numeric_limits<float>::max();
      if (finite && std::string(spec) == "w8a8") continue;  // what it is multiplied by is not
      const Quantized done = made(spec, x);
      CHECK(done.layers == (finite ? 2 : 1));
      CHECK(done.left.empty() == finite);
      for (const auto& entry : done.left) CHECK(entry.second == kNotFinite);
      CHECK(std::count_if(done.warnings.begin(), done.warnings.end(), [](const std::string& sentence) {
              return test::contains(sentence, "bad' stays in float: its") ||
                     test::contains(sentence, "bad stays in float: its");
            }) == (finite ? 0 : 1));
      for (const StoredWeight& w : done.weights) CHECK(w.sqnr_db == w.sqnr_db);
    }
}

TEST_CASE("names of a plan that no weight has are named") {
  const Quantized done = made("w8:method=rtn", 1, {{"good", *parse_weight_format("w4")}, {"gone", {}}});
  CHECK(done.warnings == std::vector<std::string>{"the plan names 'gone', which has no weight that can be stored"});
}

TEST_CASE("layers in bodies that stay as they are are counted") {
  Quantized done;
  done.model = test::fixture(R"(g (bool c, float[2,64] x, float[64,32] W) => (float[2,32] y) {
    y = If (c) <then_branch = t () => (float[2,32] a) { a = MatMul (x, W) },
                else_branch = e () => (float[2,32] b) { b = MatMul (x, W) }>
  })");
  CHECK(warnings_of(done, parse_spec("w8a8")) ==
        std::vector<std::string>{"2 layers in the bodies of If, Loop or Scan stay as they are"});
  CHECK(warnings_of(done, parse_spec("w8")).empty());
}

}  // namespace mlopt::quantize
