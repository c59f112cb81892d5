#include "graphopt/least_sizes.h"

#include "core/calib/model_inputs.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

using Sizes = std::map<std::string, int64_t>;

Sizes least(const std::string& graph, const RandomOptions& options = {}) {
  const Model model = test::fixture(graph);
  return graphopt::least_sizes(model, model_inputs(model), options, standard_types);
}

const std::string kSound =
    "g (double[B,1,T] x, double[4,1,10] W, double[4,4,3] V) => (double[B,4,P] y) "
    "{ a = Conv <strides = [5]> (x, W)  y = Conv <strides = [2]> (a, V) }";

}  // namespace

TEST_CASE("windows ask for as much as leaves each a place") {
  // 10 + 2 * 5 elements; the batch stays.
  CHECK(least(kSound) == Sizes{{"T", 32}});
  CHECK(least("g (double[B,3,H,W] x) => (double[B,3,P,Q] y) { y = MaxPool <kernel_shape = [2, 2]> (x) }") ==
        Sizes{{"H", 2}, {"W", 2}});
}

TEST_CASE("sizes that fit, or are given, ask for nothing") {
  CHECK(least("g (double[B,S] x) => (double[B,S] y) { y = Relu (x) }").empty());
  CHECK(least("g (double[B,1,T] x, double[4,1,3] W) => (double[B,4,T] y) { y = Conv <pads = [1, 1]> (x, W) }").empty());
  CHECK(least(kSound, {.shapes = {{"x", {1, 1, 20}}}}).empty());
  CHECK(least(kSound, {.distinct = true, .shapes = {{"T", {25}}}}).empty());
  CHECK(least("g (double[B,1,8] x, double[4,1,10] W) => (double[B,4,P] y) { y = Conv (x, W) }").empty());
}

TEST_CASE("a value that has no elements at any size is no reason") {
  CHECK(least("g (double[B,S] x) => (double[B,S] y, double[B,0] z) <int64[1] zero = {0}, int64[1] last = {1}> "
              "{ y = Relu (x)  z = Slice (x, zero, zero, last) }") == Sizes{{"S", 1}});
}

TEST_CASE("generated inputs are as large, and distinct where they shall be") {
  const Model model = test::fixture(kSound);
  RandomOptions options;
  options.least = least(kSound);
  CHECK(concrete_shapes(model_inputs(model), options) == std::vector<Dims>{{1, 1, 32}});
  options.distinct = true;
  CHECK(concrete_shapes(model_inputs(model), options) == std::vector<Dims>{{2, 1, 35}});
}
