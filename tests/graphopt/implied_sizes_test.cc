#include "graphopt/implied_sizes.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::ImpliedSizes;

namespace {

std::string sizes_in(const std::string& text) {
  Model model = test::fixture(text);
  const ImpliedSizes implied(model);
  const std::string found = to_string(*model.graph->inputs()[0]->type.dims);
  implied.restore(model);
  CHECK(to_string(*model.graph->inputs()[0]->type.dims) == "[B,5,6]");
  return found;
}

std::string graph(const std::string& shape, const std::string& more = "") {
  return "g (double[B,5,6] x) => (double[P,Q] y) <int64[2] s = {" + shape + "}> { a = Reshape (x, s)  y = Relu (a) " +
         more + "}";
}

}  // namespace

TEST_CASE("a Reshape to a constant number of elements holds a free dimension to one size") {
  CHECK(sizes_in(graph("5, 6")) == "[1,5,6]");
  CHECK(sizes_in(graph("10, 6")) == "[2,5,6]");
}

TEST_CASE("a free dimension stays where the shape is open, does not fit, or is not met by every run") {
  CHECK(sizes_in(graph("-1, 6")) == "[B,5,6]");
  CHECK(sizes_in(graph("7, 6")) == "[B,5,6]");
  CHECK(
      sizes_in("g (double[B,5,6] x) => (double[B,5,6] y) <int64[2] s = {5, 6}> { a = Reshape (x, s)  y = Relu (x) }") ==
      "[B,5,6]");
}

TEST_CASE("a Reshape to lengths of other axes holds a free dimension too") {
  const auto sizes = [](const std::string& rows) {
    Model model = test::fixture(
        "g (double[S,B,8] x) => (double[P,Q,R] y) <int64 i1 = {1}, int64[1] l0 = {0}, int64 two = "
        "{2}, int64[1] rows = {" +
        rows +
        "}, int64[1] four = {4}> { h = Shape (x)  b = Gather (h, i1)  c = Mul (b, two)  "
        "u = Unsqueeze (c, l0)  s = Concat <axis = 0> (rows, u, four)  y = Reshape (x, s) }");
    infer(model);
    return graphopt::implied_sizes(model);
  };
  CHECK(sizes("7") == std::map<std::string, int64_t>{{"S", 7}});
  CHECK(sizes("-1").empty());
}
