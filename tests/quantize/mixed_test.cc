#include "quantize/mixed.h"

#include "backends/reference/backend.h"
#include "core/onnx/infer.h"
#include "core/onnx/tools.h"
#include "quantize/encode_weight.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

/// Two layers side by side, of which the first moves the output a hundred times as far as the second.
struct Setup {
  Model model = test::fixture(R"(g (float[N,128] x, float[128,64] V, float[128,64] W) => (float[N,64] y)
    <float s = {0.01}> {
    a = MatMul (x, V)
    b = MatMul (x, W)
    c = Mul (b, s)
    y = Add (a, c)
  })");
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  test::MemoryData data{test::uniform({6, 128}, -1, 1), std::nullopt};
  std::vector<Weight> weights;
  Means means;

  Setup() {
    infer(model, standard_types);
    weights = find_weights(model).weights;
    means.runner = &runner;
    means.data = &data;
  }
};

}  // namespace

TEST_CASE("bits go where they matter, and no more of them than are allowed") {
  const Setup s;
  const MixedPlanner planner(s.model, s.weights, parse_spec("mixed:bits=4"), s.means);
  CHECK(planner.elements() == 2 * 128 * 64);
  const auto plan = planner.choose(planner.elements() * 5 / 8 + 3000).formats;
  REQUIRE(plan.size() == 2);
  const int first = plan.at(s.weights[0].layer).bits, second = plan.at(s.weights[1].layer).bits;
  CHECK(first > second);
  CHECK(first + second <= 10);
}

TEST_CASE("with more room every layer gets more, and with too little the least") {
  const Setup s;
  const MixedPlanner planner(s.model, s.weights, parse_spec("mixed:bits=4"), s.means);
  int before = 0;
  for (const int64_t bytes : {7000, 9000, 12000, 16000, 40000}) {
    int bits = 0;
    const auto choice = planner.choose(bytes);
    CHECK(choice.bytes <= bytes);
    for (const auto& [layer, format] : choice.formats) bits += format.bits;
    CHECK(bits >= before);
    before = bits;
  }
  CHECK(before == 16);
  CHECK(planner.choose(1000).bytes == planner.least_bytes());
  for (const auto& [layer, format] : planner.choose(1000).formats) CHECK(format.bits == 2);
}

TEST_CASE("the model is as it was when its weights have been tried") {
  const Setup s;
  const Model before = clone(s.model);
  const MixedPlanner planner(s.model, s.weights, parse_spec("mixed:bits=4"), s.means);
  test::require_same_model(before, s.model, 0);
}

TEST_CASE("a weight that four bits hold is judged by what fewer bits do") {
  Setup s;
  for (const Weight& w : s.weights)
    store(w, decode(encode_weight(w, find_method("rtn"), parse_spec("w4g32").scheme(), nullptr, false).coded));
  const MixedPlanner planner(s.model, s.weights, parse_spec("mixed:bits=8"), s.means);
  for (const auto& [layer, format] : planner.choose(planner.float_bytes()).formats) CHECK(format.bits >= 4);
}

TEST_CASE("generated data tell nothing") {
  Setup s;
  s.means.generated = true;
  CHECK(test::contains(test::error_of([&] { MixedPlanner(s.model, s.weights, parse_spec("mixed:bits=4"), s.means); }),
                       "need data"));
}

TEST_CASE("without data nothing can be measured") {
  Setup s;
  s.means.data = nullptr;
  CHECK(test::contains(test::error_of([&] { MixedPlanner(s.model, s.weights, parse_spec("mixed:bits=4"), s.means); }),
                       "need data"));
}
