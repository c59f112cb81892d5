#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::reduction_to_global_pool;
using test::declined;
using test::rewritten;

TEST_CASE("a mean over all spatial axes becomes a global pool") {
  CHECK(rewritten(reduction_to_global_pool, R"(g (double[N,4,2,3] x) => (double[N,4,1,1] y)
    <int64[2] axes = {-1, 2}> { y = ReduceMean (x, axes) })") == "GlobalAveragePool");
}

TEST_CASE("other axes, axes that go, that may be empty, and integers stay") {
  const auto mean = [](const std::string& type, const std::string& axes, const std::string& y,
                       const std::string& attrs = "") {
    return "g (" + type + " x) => (" + y + " y) { y = ReduceMean <axes = [" + axes + "]" + attrs + "> (x) }";
  };
  const std::string kept = "its axes are not kept, or it is no image";
  CHECK(declined(reduction_to_global_pool, mean("double[N,4,2,3]", "3", "double[N,4,2,1]"), 13) ==
        "its axes are not all spatial axes");
  CHECK(declined(reduction_to_global_pool, mean("double[N,4,2,3]", "1,2,3", "double[N,1,1,1]"), 13) ==
        "its axes are not all spatial axes");
  CHECK(declined(reduction_to_global_pool, mean("double[N,4,2,3]", "2,3", "double[N,4]", ", keepdims = 0"), 13) ==
        kept);
  CHECK(declined(reduction_to_global_pool, mean("double[N,4,3]", "2", "double[N,4,1]"), 13) == kept);
  CHECK(declined(reduction_to_global_pool, mean("double[N,4,H,3]", "2,3", "double[N,4,1,1]"), 13) ==
        "its spatial axes may be empty");
  CHECK(declined(reduction_to_global_pool, mean("int64[N,4,2,3]", "2,3", "int64[N,4,1,1]"), 13) ==
        "pools do not take its type");
}

TEST_CASE("a maximum, which may be -inf or NaN, stays") {
  CHECK(declined(reduction_to_global_pool, R"(g (double[N,4,2,2] x) => (double[N,4,1,1] y)
    { y = ReduceMax <axes = [2, 3]> (x) })",
                 13)
            .empty());
}

TEST_CASE("bfloat16 becomes a pool where pools take it") {
  const std::string text = R"(g (bfloat16[N,4,2,3] x) => (bfloat16[N,4,1,1] y)
    <int64[2] axes = {2, 3}> { y = ReduceMean (x, axes) })";
  CHECK(declined(reduction_to_global_pool, text, 21) == "pools do not take its type");
  CHECK(rewritten(reduction_to_global_pool, text, 22, 1e-2) == "GlobalAveragePool");
}
