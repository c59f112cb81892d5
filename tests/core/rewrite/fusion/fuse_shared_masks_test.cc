#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using fusion::fuse_shared_masks;
using test::declined;
using test::rewritten;

namespace {

/// Two layers' probabilities y and z of their scores; `second` makes the sum u of those of the second.
std::string graph(const std::string& second, const std::string& first = "s = Add (a, p)  t = Add (s, m)") {
  return "g (double[B,2,3,4] q, double[B,2,4,5] k, double[1,2,3,5] p, double[B,1,1,5] m) => (double[B,2,3,5] y, "
         "double[B,2,3,5] z) <double c = {0.5}> { a = MatMul (q, k)  " +
         first + "  y = Softmax <axis = -1> (t)  b = MatMul (q, k)  d = Mul (b, c)  " + second +
         "  z = Softmax <axis = 3> (u) }";
}

}  // namespace

TEST_CASE("two masks of several layers are one") {
  const std::string all = "MatMul Add Add Softmax MatMul Mul Add Add Softmax";
  CHECK(rewritten(fuse_shared_masks, graph("e = Add (d, p)  u = Add (e, m)")) == all);
  CHECK(rewritten(fuse_shared_masks, graph("e = Add (p, d)  u = Add (m, e)")) == all);
}

TEST_CASE("masks that only one layer has and what is no product stay") {
  CHECK(declined(fuse_shared_masks, graph("u = Add (d, p)")) == "no other scores have both added");
  CHECK(declined(fuse_shared_masks, graph("u = Add (d, p)", "f = Relu (a)  s = Add (f, p)  t = Add (s, m)")).empty());
}

TEST_CASE("sums that are read elsewhere stay") {
  const std::string read = "e = Add (d, p)  u = Add (e, m)";
  std::string text = graph(read);
  text.replace(text.find("double[B,2,3,5] z)"), 17, "double[B,2,3,5] z, double[B,2,3,5] e, double[B,2,3,5] s");
  CHECK(declined(fuse_shared_masks, text).find("'s' is used elsewhere too") != std::string::npos);
}
