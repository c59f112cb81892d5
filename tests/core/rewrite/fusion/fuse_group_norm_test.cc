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
  CHECK(rewritten(fusion::fuse_group_norm, graph(), 21, 1e-9) == "GroupNormalization");
}

TEST_CASE("groups without scale and bias, and those of LayerNormalization, are too") {
  const std::string plain = R"(g (double[N,6,4,5] x) => (double[N,6,4,5] y) <int64[3] parted = {0, 3, -1},
    int64[4] joined = {0, 6, 4, 5}, double[3] one = {1,1,1}, double[3] zero = {0,0,0}> {
    r = Reshape (x, parted)  n = InstanceNormalization (r, one, zero)  y = Reshape (n, joined) })";
  CHECK(rewritten(fusion::fuse_group_norm, plain, 21, 1e-9) == "GroupNormalization");
  const auto rows = [](const std::string& axis, const std::string& end = "y = Add (p, B)") {
    return R"(g (double[N,6,2,2] x, double[6,1,1] S, double[6,1,1] B) => (double[N,6,2,2] y) <int64[3] parted = {0, 3, -1},
      int64[4] joined = {0, 6, 2, 2}, double[8] one = {1,1,1,1,1,1,1,1}> { r = Reshape (x, parted)
      n = LayerNormalization <axis = )" +
           axis + "> (r, one)  j = Reshape (n, joined)  p = Mul (S, j)  " + end + " }";
  };
  CHECK(rewritten(fusion::fuse_group_norm, rows("-1"), 21, 1e-9) == "GroupNormalization");
  CHECK(declined(fusion::fuse_group_norm, rows("-1", "y = Neg (p)"), 21).empty());
}

TEST_CASE("groups may be parted into channels and pixels") {
  const auto text = [](const std::string& parted) {
    return R"(g (double[N,6,2,2] x) => (double[N,6,2,2] y) <int64[5] parted = {)" + parted +
           R"(}, int64[4] joined = {0, 6, 2, 2}, double[3] one = {1,1,1}, double[3] zero = {0,0,0}> {
    r = Reshape (x, parted)  n = InstanceNormalization (r, one, zero)  y = Reshape (n, joined) })";
  };
  CHECK(rewritten(fusion::fuse_group_norm, text("0, 3, 2, 2, 2"), 21, 1e-9) == "GroupNormalization");
  const std::string norm = R"(g (double[N,6,2,2] x) => (double[N,6,2,2] y) <int64[4] parted = {0, 3, 2, 4},
    int64[4] joined = {0, 6, 2, 2}, double[4] one = {1,1,1,1}> { r = Reshape (x, parted)
    n = LayerNormalization <axis = -1> (r, one)  y = Reshape (n, joined) })";
  CHECK(declined(fusion::fuse_group_norm, norm, 21) == "the groups have a scale or a bias of their own");
}

TEST_CASE("what is no group norm stays") {
  CHECK(declined(fusion::fuse_group_norm, graph(), 20) == "GroupNormalization needs opset 21");
  CHECK(declined(fusion::fuse_group_norm, graph("double[5]")) == "scale and bias are not one number for each channel");
  CHECK(declined(fusion::fuse_group_norm, graph("double[6,1,1]", "2")) ==
        "the groups have a scale or a bias of their own");
}
