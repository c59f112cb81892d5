#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::merge_concats;
using test::declined;
using test::rewritten;

TEST_CASE("a Concat of Concats along one axis becomes one") {
  CHECK(rewritten(merge_concats, R"(g (double[N,2] x, double[N,3] z) => (double[N,10] y)
    { a = Concat <axis = 1> (x, z)  b = Concat <axis = -1> (z, x)  y = Concat <axis = 1> (a, b) })") == "Concat");
}

TEST_CASE("another axis and a second reader keep both") {
  CHECK(declined(merge_concats, R"(g (double[N,2] x) => (double[M,4] y)
    { a = Concat <axis = 1> (x, x)  y = Concat <axis = 0> (a, a) })")
            .find("elsewhere") == std::string::npos);
  CHECK(declined(merge_concats, R"(g (double[N,2] x) => (double[M,4] y)
    { a = Concat <axis = 1> (x, x)  b = Neg (a)  y = Concat <axis = 0> (a, b) })") ==
        "it joins what is joined along another axis");
  CHECK(declined(merge_concats, R"(g (double[N,2] x) => (double[N,8] y)
    { a = Concat <axis = 1> (x, x)  y = Concat <axis = 1> (a, a) })") == "what it joins is used elsewhere too");
  CHECK(declined(merge_concats, "g (double[N,2] x) => (double[N,4] y) { y = Concat <axis = 1> (x, x) }").empty());
}
