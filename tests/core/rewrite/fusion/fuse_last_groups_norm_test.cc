#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using fusion::fuse_last_groups_norm;
using test::declined;
using test::rewritten;

namespace {

/// The pieces that a test may exchange for others.
struct Spelling {
  std::string part = "2, 3", axes = "1, 2, 4", variance = "d", y = "B,4,5,6";
  std::string inverse = "i = Mul (j, Scale)";
  std::string rest = "n = Mul (m, i)  q = Sub (Bias, n)";
  std::string more = "", scale = "1,1,1,2,3";
};

std::string graph(const Spelling& s = {}) {
  return "g (float[B,4,5,6] x, float[" + s.scale + "] Scale, float[1,1,1,2,3] Bias) => (float[" + s.y +
         "] y) <int64[5] parted = {0, 4, 5, " + s.part +
         "}, int64[4] joined = {0, 4, 5, 6}, float e = {0.001}> { "
         "r = Reshape (x, parted)  m = ReduceMean <axes = [" +
         s.axes +
         "], keepdims = 1> (r)  d = Sub (r, m)  "
         "c = Mul (" +
         s.variance + ", d)  v = ReduceMean <axes = [" + s.axes +
         "], keepdims = 1> (c)  "
         "w = Add (v, e)  u = Sqrt (w)  j = Reciprocal (u)  " +
         s.inverse + "  p = Mul (r, i)  " + s.rest + "  a = Add (p, q)  y = Reshape (a, joined)  " + s.more + " }";
}

std::string normed(const Spelling& s = {}, int64_t opset = 17) {
  return rewritten(fuse_last_groups_norm, graph(s), opset, 1e-4);
}
std::string kept(const Spelling& s) { return declined(fuse_last_groups_norm, graph(s), 17); }

const std::string kWhole = "Transpose Reshape InstanceNormalization Reshape Mul Add Transpose";

}  // namespace

TEST_CASE("groups of channels that come last are normalized in front") {
  CHECK(normed() == kWhole);
  CHECK(normed({}, 13) == kWhole);
  CHECK(normed({.axes = "-4, -1, 2"}) == kWhole);
  CHECK(normed({.rest = "k = Neg (m)  n = Mul (k, i)  q = Add (n, Bias)"}) == kWhole);
}

TEST_CASE("without a scale or a bias there is none") {
  CHECK(normed({.rest = "k = Neg (m)  q = Mul (k, i)"}) ==
        "Transpose Reshape InstanceNormalization Reshape Mul Transpose");
  CHECK(normed({.rest = "n = Mul (m, i)  q = Neg (n)"}) ==
        "Transpose Reshape InstanceNormalization Reshape Mul Transpose");
  std::string bare = graph({.rest = "n = Mul (m, i)  q = Sub (Bias, n)"});
  bare.replace(bare.find("i = Mul (j, Scale)"), 18, "").replace(bare.find("j = Reciprocal"), 1, "i");
  CHECK(rewritten(fuse_last_groups_norm, bare, 17, 1e-4) ==
        "Transpose Reshape InstanceNormalization Reshape Add Transpose");
}

TEST_CASE("other axes, other means, other scales and what others read stay") {
  CHECK(kept({.axes = "1, 2, 3"}).empty());
  CHECK(kept({.axes = "0, 1, 2, 4"}).empty());
  CHECK(kept({.variance = "r"}).empty());
  CHECK(kept({.rest = "n = Mul (w, i)  q = Sub (Bias, n)"}) == "another mean is subtracted");
  CHECK(kept({.scale = "1,1,5,1,1"}) == "scale and bias are not one for each channel");
  CHECK_FALSE(kept({.more = "z = Neg (a)"}).empty());
}
