#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& scale = "double[6,1,1]", const std::string& one = "1",
                  const std::string& joined = "0, 6, 4, 5") {
  return "g (double[N,6,4,5] x, " + scale +
         " S, double[1,6,1,1] B) => (double[N,6,4,5] y) "
         "<int64[3] parted = {0, 3, -1}, int64[4] joined = {" +
         joined + "}, double[3] one = {" + one +
         ",1,1}, "
         "double[3] zero = {0,0,0}> { r = Reshape (x, parted)  n = InstanceNormalization (r, one, zero) "
         "j = Reshape (n, joined)  p = Mul (S, j)  y = Add (p, B) }";
}

}  // namespace

TEST_CASE("groups of channels that are normalized are one operator") {
  CHECK(rewritten(fusion::group_norm, graph(), 21, 1e-9) == "GroupNormalization");
}

TEST_CASE("what is no group norm stays") {
  CHECK(declined(fusion::group_norm, graph(), 20) == "GroupNormalization needs opset 21");
  CHECK(declined(fusion::group_norm, graph("double[5]")) == "scale and bias are not one number for each channel");
  CHECK(declined(fusion::group_norm, graph("double[6,1,1]", "2")) == "the groups have a scale or a bias of their own");
}
