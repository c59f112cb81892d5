#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::sum_to_mean;
using test::declined;
using test::rewritten;

namespace {

std::string text(const std::string& end, const std::string& type = "double", const std::string& shape = "N,M,8") {
  return "g (" + type + "[" + shape + "] x) => (" + type + "[A,B,C] y) <" + type + " n = {8}, " + type +
         " part = {0.125}, " + type + " four = {4}, int64[1] last = {-1}> { " + end + " }";
}

}  // namespace

TEST_CASE("a sum that is divided by how many it is of is a mean") {
  CHECK(rewritten(sum_to_mean, text("s = ReduceSum (x, last)  y = Div (s, n)")) == "ReduceMean");
  CHECK(rewritten(sum_to_mean, text("s = ReduceSum (x, last)  y = Mul (part, s)")) == "ReduceMean");
  CHECK(rewritten(sum_to_mean, R"(g (double[N,2,3] x) => (double[N] y) <double n = {6}, int64[2] last = {1, 2}> {
    s = ReduceSum <keepdims = 0> (x, last)  y = Div (s, n) })",
                  17) == "ReduceMean");
  CHECK(rewritten(sum_to_mean,
                  "g (double[N,8] x) => (double[N,1] y) <double n = {8}> "
                  "{ s = ReduceSum <axes = [1]> (x)  y = Div (s, n) }",
                  12) == "ReduceMean");
}

TEST_CASE("another number, integers, free lengths and a sum that others read stay") {
  CHECK(declined(sum_to_mean, text("s = ReduceSum (x, last)  y = Div (s, four)")) == "it is no mean");
  CHECK(declined(sum_to_mean, text("s = ReduceSum (x, last)  y = Mul (s, n)")) == "it is no mean");
  CHECK(declined(sum_to_mean, text("s = ReduceSum (x, last)  y = Div (n, s)")).empty());
  CHECK(declined(sum_to_mean, R"(g (int64[N,8] x) => (int64[N,1] y) <int64 n = {8}, int64[1] last = {-1}> {
    s = ReduceSum (x, last)  y = Div (s, n) })") == "a mean of integers is cut off");
  CHECK(declined(sum_to_mean, text("s = ReduceSum (x, last)  y = Div (s, n)", "double", "N,M,K")) ==
        "how many elements are summed is not known");
  CHECK(declined(sum_to_mean, text("s = ReduceSum (x, last)  d = Div (s, n)  y = Add (d, s)")) ==
        "the result of ReduceSum giving 's' is used elsewhere too");
  // One element more in front: the result has another axis.
  CHECK(declined(sum_to_mean, R"(g (double[8] x) => (double[1,1] y) <double[1,1] n = {8}, int64[1] last = {-1}> {
    s = ReduceSum (x, last)  y = Div (s, n) })") == "it is no mean");
}
