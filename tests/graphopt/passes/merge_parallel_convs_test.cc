#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::merge_parallel_convs;
using test::declined;
using test::rewritten;

namespace {

/// Kernels of three, one, and one by three, grouped and not.
std::string graph(const std::string& nodes) {
  return "g (double[N,4,7,6] x, double[N,4,7,6] z, double[6,2,3,3] W, double[6,2,1,1] V, double[6,2,1,3] R, "
         "double[6,2,3,1] S, double[6,4,1,1] D, double[4,2,1,1] F, double[6] B, double[6] C) => (double[N,K,H,L] y) {" +
         nodes + "}";
}
/// A sum of two convolutions of two groups with these attributes.
std::string sum(const std::string& a, const std::string& b, const std::string& op = "Add") {
  const std::string group = " = Conv <group = 2";
  return graph("a" + group + a + "  b" + group + b + "  y = " + op + " (a, b)");
}

}  // namespace

TEST_CASE("kernels of one value are added up where one covers the other") {
  CHECK(rewritten(merge_parallel_convs, sum("> (x, V, B)", "> (x, V, C)")) == "Conv");
  CHECK(rewritten(merge_parallel_convs, sum(", pads = [1, 1, 1, 1]> (x, W, B)", "> (x, V)")) == "Conv");
  CHECK(rewritten(merge_parallel_convs, sum("> (x, V)", ", pads = [1, 1, 1, 1]> (x, W)")) == "Conv");
  CHECK(rewritten(merge_parallel_convs, sum(", pads = [1, 1, 1, 1]> (x, W)", ", pads = [0, 1, 0, 1]> (x, R)")) ==
        "Conv");
  CHECK(rewritten(merge_parallel_convs,
                  sum(", pads = [1, 1, 1, 1], strides = [2, 2]> (x, W)", ", strides = [2, 2]> (x, V)")) == "Conv");
  CHECK(rewritten(merge_parallel_convs, sum(", pads = [2, 2, 2, 2], dilations = [2, 2]> (x, W)", "> (x, V, B)")) ==
        "Conv");
}

TEST_CASE("taps at the edge are where the pads put them") {
  CHECK(rewritten(merge_parallel_convs, sum(", pads = [0, 0, 2, 2]> (x, W)", "> (x, V)")) == "Conv");
  CHECK(rewritten(merge_parallel_convs, sum(", pads = [2, 0, 0, 2]> (x, W)", "> (x, V)")) == "Conv");
}

TEST_CASE("a difference takes the second kernel away, whichever is the larger") {
  CHECK(rewritten(merge_parallel_convs, sum(", pads = [1, 1, 1, 1]> (x, W, B)", "> (x, V, C)", "Sub")) == "Conv");
  CHECK(rewritten(merge_parallel_convs, sum("> (x, V, C)", ", pads = [1, 1, 1, 1]> (x, W)", "Sub")) == "Conv");
}

TEST_CASE("branches are added up in turn") {
  CHECK(rewritten(merge_parallel_convs,
                  graph("a = Conv <group = 2> (x, V)  b = Conv <group = 2, pads = [1, 1, 1, 1]> (x, W, B)  "
                        "c = Conv <group = 2, pads = [0, 1, 0, 1]> (x, R)  d = Add (a, b)  y = Add (c, d)")) == "Conv");
}

TEST_CASE("kernels that do not cover each other, of other values, strides, groups or places stay") {
  const std::string other = "neither kernel has taps wherever the other has";
  const auto why = [](const std::string& a, const std::string& b) { return declined(merge_parallel_convs, sum(a, b)); };
  CHECK(why(", pads = [0, 1, 0, 1]> (x, R)", ", pads = [1, 0, 1, 0]> (x, S)") == other);
  CHECK(why(", pads = [2, 2, 2, 2], dilations = [2, 2]> (x, W)", ", pads = [1, 1, 1, 1]> (x, W)") == other);
  CHECK(why("> (x, V)", "> (z, V)").empty());
  CHECK(declined(merge_parallel_convs, graph("a = Conv <group = 2> (x, V)  b = Conv (x, D)  y = Add (a, b)")) == other);
  CHECK(why("> (x, V)", ", auto_pad = \"SAME_UPPER\"> (x, W)") == "its pads are not written out");
  CHECK(declined(merge_parallel_convs, graph("a = Conv <group = 2> (x, V, B)  b = Conv <group = 2> (x, V, C)  "
                                             "c = Add (a, b)  d = Neg (a)  y = Add (c, d)")) ==
        "the result of Conv giving 'a' is used elsewhere too");
}
