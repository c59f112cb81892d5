#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// As Keras writes it: `count` divides the sum of squares, `one` scales.
std::string graph(const std::string& count = "6", const std::string& one = "1") {
  return "g (double[N,5,6] x) => (double[N,5,6] y) <int64[4] parted = {1, -1, 6, 1}, double count = {" + count +
         "}, double one = {" + one +
         "}, double zero = {0}, int64[3] axes = {0, 2, 3}> { h = Shape (x)  r = Reshape (x, parted)  m = ReduceMean "
         "<axes = [0, 2, 3]> (r)  d = Sub (r, m)  q = ReduceSumSquare <axes = [0, 2, 3], keepdims = 0> (d)  v = Div "
         "(q, count)  "
         "f = Squeeze (m, axes)  n = Shape (f)  s = Expand (one, n)  b = Expand (zero, n)  "
         "k = BatchNormalization <epsilon = 0.001> (r, s, b, f, v)  y = Reshape (k, h) }";
}

}  // namespace

TEST_CASE("rows that are normalized as channels of one sample are by LayerNormalization") {
  CHECK(rewritten(fusion::fuse_rows_norm, graph(), 17, 1e-6) == "LayerNormalization");
}

TEST_CASE("a mean that is subtracted along another axis stays") {
  std::string flat = graph();
  const std::string kept = "m = ReduceMean <axes = [0, 2, 3]> (r)",
                    gone = "m = ReduceMean <axes = [0, 2, 3], keepdims = 0> (r)";
  flat.replace(flat.find(kept), kept.size(), gone);
  CHECK(declined(fusion::fuse_rows_norm, flat, 17) == "mean and variance are not the rows' own");
}

TEST_CASE("another variance, a scale, other rows and older opsets stay") {
  CHECK(declined(fusion::fuse_rows_norm, graph("5"), 17) == "mean and variance are not the rows' own");
  CHECK(declined(fusion::fuse_rows_norm, graph("6", "2"), 17) == "it has a scale or a bias of its own");
  CHECK(declined(fusion::fuse_rows_norm, graph(), 16) == "LayerNormalization needs opset 17");
  CHECK(declined(fusion::fuse_rows_norm, R"(g (double[N,6,4] x, double[5] S, double[5] B, double[5] M, double[5] V) =>
    (double[N,6,4] y) <int64[4] parted = {-1, 5, 6, 4}> { h = Shape (x)  r = Reshape (x, parted)
    k = BatchNormalization (r, S, B, M, V)  y = Reshape (k, h) })",
                 17) == "not rows as channels");
}
