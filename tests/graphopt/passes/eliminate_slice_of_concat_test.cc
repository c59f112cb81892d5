#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_slice_of_concat;
using test::declined;
using test::rewritten;

namespace {

/// What [from, to) of a [B, 2], b [B, 3] and c [B, N] beside each other is.
std::string sliced(const std::string& from, const std::string& to, const std::string& axis = "1",
                   const std::string& step = "1") {
  return "g (double[B,2] a, double[B,3] b, double[B,N] c) => (double[P,Q] y) <int64[1] from = {" + from +
         "}, int64[1] to = {" + to + "}, int64[1] axis = {" + axis + "}, int64[1] step = {" + step +
         "}> { j = Concat <axis = -1> (a, b, c)  s = Slice (j, from, to, axis, step)  y = Neg (s) }";
}

}  // namespace

TEST_CASE("one of the joined values, or a part of it, is taken itself") {
  CHECK(rewritten(eliminate_slice_of_concat, sliced("5", "9223372036854775807")) == "Neg");
  CHECK(rewritten(eliminate_slice_of_concat, sliced("6", "9223372036854775807")) == "Slice Neg");
  const std::string known = R"(g (double[B,2] a, double[B,3] b) => (double[P,Q] y)
    <int64[1] axis = {1}, int64[1] from = {)";
  const std::string rest = "}> { j = Concat <axis = 1> (a, b)  s = Slice (j, from, to, axis)  y = Neg (s) }";
  CHECK(rewritten(eliminate_slice_of_concat, known + "0}, int64[1] to = {2" + rest) == "Neg");
  CHECK(rewritten(eliminate_slice_of_concat, known + "-3}, int64[1] to = {5" + rest) == "Neg");
  CHECK(rewritten(eliminate_slice_of_concat, known + "3}, int64[1] to = {-1" + rest) == "Slice Neg");
  CHECK(declined(eliminate_slice_of_concat, known + "1}, int64[1] to = {3" + rest) == "it takes parts of several");
}

TEST_CASE("a slice of a slice that was joined is one slice") {
  CHECK(rewritten(eliminate_slice_of_concat, R"(g (double[B,2] a, double[B,9] b) => (double[B,2] y)
    <int64[1] axis = {1}, int64[1] three = {3}, int64[1] end = {8}, int64[1] five = {5}>
    { c = Slice (b, three, end, axis)  j = Concat <axis = 1> (a, c)  y = Slice (j, three, five, axis) })") == "Slice");
}

TEST_CASE("parts of several, of another axis, or that length decides, stay") {
  CHECK(declined(eliminate_slice_of_concat, sliced("1", "9223372036854775807")) == "it takes parts of several");
  CHECK(declined(eliminate_slice_of_concat, sliced("1", "-1")) == "where it begins or ends is not known");
  for (const char* from : {"-1", "9223372036854775807"})
    CHECK(declined(eliminate_slice_of_concat, sliced(from, "9223372036854775807")) ==
          "where it begins or ends is not known");
  CHECK(declined(eliminate_slice_of_concat, sliced("1", "9223372036854775807", "0")) == "it takes parts of several");
  CHECK(declined(eliminate_slice_of_concat, sliced("0", "9223372036854775807", "1", "2")).empty());
}

TEST_CASE("the rest of what may be shorter is not said to have a length") {
  Model model = test::fixture(R"(g (double[2] a, double[N] b) => (double[M] y)
    <int64[1] three = {3}, int64[1] end = {9223372036854775807}>
    { j = Concat <axis = 0> (a, b)  s = Slice (j, three, end)  y = Neg (s) })");
  infer(model);
  REQUIRE(run_pass(model, eliminate_slice_of_concat, test::pass_context()).applied == 1);
  const Node* slice = model.graph->outputs()[0]->producer->input(0)->producer;
  REQUIRE(slice->is("Slice"));
  CHECK_FALSE((*slice->output(0)->type.dims)[0].known());
}
