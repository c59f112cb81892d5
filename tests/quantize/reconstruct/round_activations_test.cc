#include "quantize/reconstruct/round_activations.h"

#include <cmath>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("values are rounded where the plan has them, and keep their names") {
  Model model = test::fixture(R"(
    g (float[N,16,8,8] x, float[32,16,3,3] V, float[20,1152] W) => (float[N,20] y) {
      a = Conv (x, V)
      b = Relu (a)
      f = Flatten (b)
      y = Gemm <transB = 1> (f, W)
    })");
  const quantize::Plan plan = quantize::make_plan(model, quantize::parse_spec("w8a8"));
  std::map<std::string, quantize::Grid> grids;
  for (const char* name : {"x", "b"}) grids[name] = {DType::kU8, 0, 255, 0.5F, name[0] == 'x' ? 3 : 0};
  const auto logs = quantize::round_activations(model, plan, grids);
  REQUIRE(logs.size() == 2);
  CHECK(test::operators(*model.graph) == "FakeQuantize Conv Relu FakeQuantize Flatten Gemm");
  const Node* fake = model.graph->nodes()[0];
  CHECK(std::get<int64_t>(fake->attr("low")->value) == -3);
  CHECK(std::get<int64_t>(fake->attr("high")->value) == 252);
  CHECK(to_floats(*model.graph->find(logs.at("x"))->constant)[0] == Approx(std::log(0.5F)));
  for (const char* name : {"x", "a", "b", "f", "y"}) CHECK(model.graph->find(name) != nullptr);
}
