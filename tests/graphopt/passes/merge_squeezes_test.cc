#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::merge_squeezes;
using test::declined;
using test::rewritten;

TEST_CASE("two Squeezes or Unsqueezes become one, whose axes are counted in one shape") {
  CHECK(rewritten(merge_squeezes, R"(g (double[N,3] x) => (double[1,N,1,3,1] y) <int64[2] a = {0, 2}, int64[1] b = {-1}>
    { u = Unsqueeze (x, a)  y = Unsqueeze (u, b) })") == "Unsqueeze");
  CHECK(rewritten(merge_squeezes, R"(g (double[N,3] x) => (double[1,N,1,3] y) <int64[1] a = {1}, int64[1] b = {0}>
    { u = Unsqueeze (x, a)  y = Unsqueeze (u, b) })") == "Unsqueeze");
  CHECK(rewritten(merge_squeezes, R"(g (double[1,N,1,3,1] x) => (double[N,3] y)
    { u = Squeeze <axes = [2]> (x)  y = Squeeze <axes = [0, 3]> (u) })",
                  12) == "Squeeze");
}

TEST_CASE("axes that are not given, and a first result that others read, keep both") {
  CHECK(declined(merge_squeezes, R"(g (double[1,N,1] x) => (double[N] y) <int64[1] a = {0}>
    { u = Squeeze (x, a)  y = Squeeze (u) })") == "its axes are not known");
  CHECK(declined(merge_squeezes, R"(g (double[N] x) => (double[1,1,N] y, double[1,N] u) <int64[1] a = {0}>
    { u = Unsqueeze (x, a)  y = Unsqueeze (u, a) })")
            .find("used elsewhere") != std::string::npos);
  CHECK(declined(merge_squeezes, R"(g (double[N] x) => (double[N] y) <int64[1] a = {0}>
    { u = Unsqueeze (x, a)  y = Squeeze (u, a) })")
            .empty());
}
