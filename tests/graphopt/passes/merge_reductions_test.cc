#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::merge_reductions;
using test::declined;
using test::rewritten;

TEST_CASE("two reductions of one kind become one") {
  CHECK(rewritten(merge_reductions, R"(g (double[N,2,3] x) => (double[N] y)
    <int64[1] last = {-1}> { a = ReduceMean <keepdims = 0> (x, last)  y = ReduceMean <keepdims = 0> (a, last) })") ==
        "ReduceMean");
  CHECK(rewritten(merge_reductions, R"(g (double[N,2,3] x) => (double[1,2,1] y)
    { a = ReduceMax <axes = [0]> (x)  y = ReduceMax <axes = [2]> (a) })",
                  13) == "ReduceMax");
  CHECK(rewritten(merge_reductions, R"(g (double[N,2,3] x) => (double y)
    <int64[1] first = {0}> { a = ReduceSum <keepdims = 0> (x, first)  y = ReduceSum <keepdims = 0> (a) })") ==
        "ReduceSum");
}

TEST_CASE("reductions of other kinds, with other forms, of integers' means or that others read, stay") {
  const auto two = [](const std::string& first, const std::string& second,
                      const std::string& outputs = "double[M,2,3] y") {
    return "g (double[N,2,3] x) => (" + outputs + ") <int64[1] zero = {0}> { a = " + first +
           " (x, zero)  y = " + second + " (a, zero) }";
  };
  const std::string drop = " <keepdims = 0>";
  CHECK(declined(merge_reductions, two("ReduceSum", "ReduceMax", "double[M,2,3] y")) ==
        "the reduction before it is another one");
  CHECK(declined(merge_reductions, two("ReduceSum" + drop, "ReduceSum", "double[1,3] y")) ==
        "one keeps its axes and the other does not");
  CHECK(declined(merge_reductions, two("ReduceSum", "ReduceSum", "double[1,2,3] y, double[1,2,3] a"))
            .find("used elsewhere") != std::string::npos);
  CHECK(declined(merge_reductions, R"(g (int64[N,2] x) => (int64[1,1] y) <int64[1] zero = {0}, int64[1] one = {1}>
    { a = ReduceMean (x, zero)  y = ReduceMean (a, one) })") == "a mean of integers is cut off");
}
