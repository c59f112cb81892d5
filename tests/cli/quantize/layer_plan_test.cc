#include "cli/quantize/layer_plan.h"

#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;

TEST_CASE("a plan is an object of layers, or a report of quantize") {
  const test::TempDir dir;
  auto plan = cli::read_layer_plan(dir.write("a.json", R"({"/a": "w4g32", "/b": "nf4"})"));
  CHECK(to_string(plan.at("/a")) == "w4g32");
  CHECK(plan.size() == 2);
  plan = cli::read_layer_plan(
      dir.write("b.json", R"({"spec": "mixed:size=40%", "weights": [{"layer": "/c", "format": "w3", "bytes": 5}]})"));
  CHECK(to_string(plan.at("/c")) == "w3");
  CHECK(plan.size() == 1);
  CHECK(to_string(cli::read_layer_plan(R"({"/d": "w8"})").at("/d")) == "w8");
  CHECK(test::contains(test::error_of([] { cli::read_layer_plan(R"({"/d": )"); }), "--layer-plan"));
}

TEST_CASE("a plan that is none, or names a format that there is not, is refused") {
  const test::TempDir dir;
  CHECK(test::contains(test::error_of([&] { cli::read_layer_plan(dir.write("a.json", "[]")); }), "names no layer"));
  CHECK(test::contains(test::error_of([&] { cli::read_layer_plan(dir.write("b.json", R"({"/a": "w4h32"})")); }),
                       "no format of weights is called 'w4h32'"));
}
