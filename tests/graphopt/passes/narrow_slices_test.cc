#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::narrow_slices;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& starts, const std::string& ends, const std::string& steps = "1, 2",
                  const std::string& axes = "0, 2") {
  return "g (double[N,3,6] x) => (double[P,Q,R] y) <int64[2] s = {" + starts + "}, int64[2] e = {" + ends +
         "}, int64[2] a = {" + axes + "}, int64[2] t = {" + steps + "}> { c = Slice (x, s, e, a, t)  y = Relu (c) }";
}

/// How many axes the Slice has after the pass.
int64_t axes_left(const std::string& text) {
  Model model = test::fixture(text);
  infer(model);
  REQUIRE(run_pass(model, narrow_slices, test::pass_context()).applied == 1);
  return model.graph->nodes().front()->input(1)->constant->size();
}

}  // namespace

TEST_CASE("axes that are taken whole are not sliced") {
  CHECK(rewritten(narrow_slices, graph("0, 1", "1000000000, 9223372036854775807")) == "Slice Relu");
  CHECK(axes_left(graph("0, 1", "1000000000, 6")) == 1);
  CHECK(rewritten(narrow_slices, graph("0, 1", "6, 3", "1, 1", "-1, 1")) == "Slice Relu");
  CHECK(axes_left(graph("0, 1", "6, 3", "1, 1", "-1, 1")) == 1);
}

TEST_CASE("parts stay, and what takes everything is another pass's") {
  CHECK(declined(narrow_slices, graph("0, 1", "999999999, 6")).empty());
  CHECK(declined(narrow_slices, graph("1, 1", "1000000000, 6")).empty());
  CHECK(declined(narrow_slices, graph("0, 0", "1000000000, 6", "1, 1")).empty());
  CHECK(declined(narrow_slices, graph("0, 1", "1000000000, 6", "2, 1")).empty());
  CHECK(declined(narrow_slices, R"(g (double[N,3,6] x, int64[1] e) => (double[P,3,6] y) <int64[1] s = {0}>
    { y = Slice (x, s, e) })") == "its limits are not constant");
  CHECK(declined(narrow_slices,
                 R"(g (double[N,3,6] x) => (double[P,3,6] y) { y = Slice <starts = [0], ends = [2]> (x) })",
                 9) == "its limits are attributes before opset 10");
}
