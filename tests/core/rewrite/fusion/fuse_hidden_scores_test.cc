#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using fusion::fuse_hidden_scores;
using test::declined;
using test::rewritten;

namespace {

/// Probabilities of the scores a, of which `hide` makes h.
std::string graph(const std::string& hide, const std::string& sum = "u = Add (h, m)",
                  const std::string& low = "-3e38") {
  return "g (double[B,2,3,4] q, double[B,2,4,3] k, bool[1,1,3,3] seen, double[B,1,1,3] m) => (double[B,2,3,3] y) "
         "<double c = {0.5}, double low = {" +
         low + "}> { p = MatMul (q, k)  a = Mul (p, c)  " + hide + "  " + sum + "  y = Softmax <axis = -1> (u) }";
}

}  // namespace

TEST_CASE("scores that are hidden before a mask is added are hidden by it") {
  const std::string fused = "MatMul Mul Where Add Add Softmax";
  CHECK(rewritten(fuse_hidden_scores, graph("h = Where (seen, a, low)")) == fused);
  CHECK(rewritten(fuse_hidden_scores, graph("h = Where (seen, low, a)", "u = Add (m, h)")) == fused);
}

TEST_CASE("what does not swallow scores, and what is none, stays") {
  CHECK(declined(fuse_hidden_scores, graph("h = Where (seen, a, low)", "u = Add (h, m)", "-1e9")) ==
        "scores may change what hides them");
  CHECK(declined(fuse_hidden_scores, graph("h = Where (seen, a, low)", "u = Add (h, m)", "nan")) ==
        "scores may change what hides them");
  CHECK(declined(fuse_hidden_scores, graph("r = Relu (a)  h = Where (seen, r, low)")).empty());
  CHECK(declined(fuse_hidden_scores, graph("h = Where (seen, a, low)", "u = Sub (h, m)")).empty());
}

TEST_CASE("hidden scores that are read elsewhere stay") {
  std::string text = graph("h = Where (seen, a, low)");
  text.replace(text.find("double[B,2,3,3] y)"), 18, "double[B,2,3,3] y, double[B,2,3,3] h)");
  CHECK(declined(fuse_hidden_scores, text).find("'h' is used elsewhere too") != std::string::npos);
}
