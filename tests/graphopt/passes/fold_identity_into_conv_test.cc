#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_identity_into_conv;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& nodes, const std::string& type = "double") {
  const auto of = [&](const char* dims) { return type + dims; };
  return "g (" + of("[N,4,5,6] x") + ", " + of("[4,2,3,3] W") + ", " + of("[4,1,1,1] D") + ", " + of("[4,4,1,1] V") +
         ", " + of("[4] B") + ", " + of("[4] G") + ", " + of("[4] M") + ", " + of("[4] R") + ") => (" +
         of("[N,4,H,L] y") + ") {" + nodes + "}";
}
const std::string kConv = "a = Conv <group = 2, pads = [1, 1, 1, 1]> (x, W, B)  ";
const std::string kNorm = "b = BatchNormalization (x, G, B, M, R)  ";

}  // namespace

TEST_CASE("a convolution adds its input by the middle of its kernel") {
  CHECK(rewritten(fold_identity_into_conv, graph(kConv + "y = Add (a, x)")) == "Conv");
  CHECK(rewritten(fold_identity_into_conv, graph(kConv + "y = Add (x, a)")) == "Conv");
  CHECK(rewritten(fold_identity_into_conv, graph("a = Conv <group = 4> (x, D)  y = Add (a, x)")) == "Conv");
  CHECK(rewritten(fold_identity_into_conv, graph("a = Conv (x, V)  y = Add (a, x)")) == "Conv");
  CHECK(rewritten(fold_identity_into_conv,
                  graph("a = Conv <group = 2, pads = [2, 2, 2, 2], dilations = [2, 2]> (x, W)  y = Add (a, x)")) ==
        "Conv");
  CHECK(rewritten(fold_identity_into_conv, graph("a = Conv <group = 2, pads = [2, 0, 0, 2]> (x, W)  y = Add (a, x)")) ==
        "Conv");
}

TEST_CASE("and what BatchNormalization makes of it, which a difference may take away") {
  CHECK(rewritten(fold_identity_into_conv, graph(kConv + kNorm + "y = Add (a, b)")) == "Conv");
  CHECK(rewritten(fold_identity_into_conv, graph(kConv + kNorm + "y = Add (b, a)")) == "Conv");
  CHECK(rewritten(fold_identity_into_conv, graph(kConv + kNorm + "y = Sub (a, b)")) == "Conv");
  CHECK(rewritten(fold_identity_into_conv, graph(kConv + kNorm + "y = Sub (b, a)")) == "Conv");
  CHECK(rewritten(fold_identity_into_conv, graph(kConv + "y = Sub (x, a)")) == "Conv");
}

TEST_CASE("branches are taken in turn, whichever come first") {
  CHECK(rewritten(fold_identity_into_conv, graph("a = Conv (x, V)  " + kNorm +
                                                 "c = Conv (x, V)  d = Add (a, b)  e = Add (d, c)  y = Add (e, x)")) ==
        "Conv");
}

TEST_CASE("what gives another shape, reads another value, or has no middle stays") {
  const std::string shape = "the convolution does not give a value of its input's shape";
  const auto why = [](const std::string& nodes) { return declined(fold_identity_into_conv, graph(nodes)); };
  CHECK(why("c = Relu (x)  a = Conv (c, V)  y = Add (a, x)").empty());
  CHECK(why("a = Conv <strides = [5, 6]> (x, V)  y = Add (a, x)") == shape);
  CHECK(why("a = Conv <group = 2, pads = [1, 0, 1, 0]> (x, W)  b = GlobalAveragePool (a)  y = Add (b, x)").empty());
  CHECK(why("a = Conv <group = 2, pads = [3, 1, -1, 1]> (x, W)  y = Add (a, x)") ==
        "the kernel has no tap in its middle");
  CHECK(why(kConv + "c = Neg (a)  d = Add (a, x)  y = Add (c, d)") ==
        "the result of Conv giving 'a' is used elsewhere too");
  CHECK(why(kConv + "b = BatchNormalization <training_mode = 0> (x, G, B, M, R)  c = Add (a, b)  y = Add (b, c)")
            .empty());
}

TEST_CASE("half floats are too narrow for both") {
  CHECK(declined(fold_identity_into_conv, graph("a = Conv (x, V)  y = Add (a, x)", "float16")) ==
        "its numbers are too narrow to hold both");
}
