#include "quantize/mixed.h"

#include "backends/reference/backend.h"
#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "core/onnx/tools.h"
#include "quantize/store_weights.h"
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
  const auto plan = planner.choose(planner.elements() * 5 / 8 + 3000);
  REQUIRE(plan.size() == 2);
  const int first = plan.at(s.weights[0].layer).bits, second = plan.at(s.weights[1].layer).bits;
  CHECK(first > second);
  CHECK(first + second <= 10);
}

TEST_CASE("with more room every layer gets more, and with too little the least is said") {
  const Setup s;
  const MixedPlanner planner(s.model, s.weights, parse_spec("mixed:bits=4"), s.means);
  int before = 0;
  for (const int64_t bytes : {7000, 9000, 12000, 16000, 40000}) {
    int bits = 0;
    for (const auto& [layer, format] : planner.choose(bytes)) bits += format.bits;
    CHECK(bits >= before);
    before = bits;
  }
  CHECK(before == 16);
  CHECK(test::contains(test::error_of([&] { planner.choose(1000); }), "in two bits already"));
}

TEST_CASE("the model is as it was when its weights have been tried") {
  const Setup s;
  const Model before = clone(s.model);
  const MixedPlanner planner(s.model, s.weights, parse_spec("mixed:bits=4"), s.means);
  test::require_same_model(before, s.model, 0);
}

TEST_CASE("all of the room is used, also where much of the source is gone by the time that weights are stored") {
  std::string text = "g (float[N,64] x0";
  for (int i = 0; i < 8; ++i) text += ", float[64,64] W" + std::to_string(i);
  text += ") => (float[N,64] x8) {";
  for (int i = 0; i < 8; ++i) {
    const std::string at = std::to_string(i);
    text += "x" + std::to_string(i + 1) + " = MatMul (x" + at + ", W" + at + ")\n";
  }
  Setup s;
  s.data = test::MemoryData(test::uniform({6, 64}, -1, 1), std::nullopt);
  for (const int64_t gone : {0, 40000}) {
    Model model = test::fixture(text + "}");
    infer(model, standard_types);
    constexpr int64_t kAllowed = 26000;
    const int64_t source = written_size(model, "model.onnx") + gone;
    const Emitted done = store_mixed(model, parse_spec("mixed:size=26000"), s.means, source);
    CHECK(done.weights.size() == 8);
    CHECK(written_size(model, "model.onnx") <= kAllowed);
    CHECK(written_size(model, "model.onnx") > kAllowed * 9 / 10);
  }
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
