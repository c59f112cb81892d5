#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using fusion::fuse_window_mask;
using test::declined;
using test::rewritten;

namespace {

/// The pieces that a test may exchange for others.
struct Spelling {
  std::string x = "B,6,5,5", scores = "s = Add (m, Bias)", parted = "-1, 3, 2, 5, 5", mask = "1,3,1,5,5";
  std::string end = "w = Softmax <axis = -1> (j)  y = Relu (w)";
};

/// Scores of two heads in three windows of every sample.
std::string graph(const Spelling& s = {}) {
  return "g (double[" + s.x + "] x, double[1,2,5,5] Bias, double[1,1,5,5] Flat, double[" + s.mask +
         "] Mask) => (double[P,2,5,5] y) <int64[4] heads = {-1, 2, 5, 5}, int64[5] parted = {" + s.parted +
         "}> { m = Reshape (x, heads)  " + s.scores +
         "  p = Reshape (s, parted)  a = Add (p, Mask)  "
         "j = Reshape (a, heads)  " +
         s.end + " }";
}

std::string joined(const Spelling& s = {}) { return rewritten(fuse_window_mask, graph(s), 17, 1e-12, Target::kOrt); }
std::string kept(const Spelling& s) { return declined(fuse_window_mask, graph(s), 17, Target::kOrt); }

}  // namespace

TEST_CASE("masks of windows are repeated for every sample and added at once") {
  CHECK(joined() == "Reshape Shape Gather Concat Add Expand Reshape Add Softmax Relu");
  CHECK(joined({.x = "2,6,5,5"}) == "Reshape Add Expand Reshape Add Softmax Relu");
  CHECK(joined({.x = "1,6,5,5"}) == "Reshape Add Reshape Add Softmax Relu");
  CHECK(joined({.x = "1,6,5,5", .scores = "s = Neg (m)"}) == "Reshape Neg Reshape Add Softmax Relu");
  CHECK(joined({.x = "1,6,5,5", .mask = "3,1,5,5"}) == "Reshape Add Reshape Add Softmax Relu");
  CHECK(joined({.scores = "s = Add (m, Flat)", .mask = "1,3,2,5,5"}) ==
        "Reshape Shape Gather Concat Add Expand Reshape Add Softmax Relu");
  CHECK(rewritten(fuse_window_mask, graph({.x = "1,6,5,5"}), 23) == "Reshape Add Reshape Add Softmax Relu");
}

TEST_CASE("sums that others read stay") {
  CHECK_FALSE(kept({.end = "w = Softmax <axis = -1> (j)  z = Neg (p)  y = Relu (w)"}).empty());
}

TEST_CASE("other masks, other axes and what is no softmax stay") {
  const std::string other = "the mask is not one for each window", no = "not scores of windows";
  CHECK(kept({.x = "1,6,5,5", .mask = "1,1,1,5,5"}) == other);
  CHECK(kept({.x = "2,6,5,5", .mask = "2,3,1,5,5"}) == other);
  CHECK(kept({.mask = "1,3,1,1,5"}) == other);
  CHECK(kept({.parted = "3, -1, 2, 5, 5"}) == no);
  CHECK(kept({.end = "w = Relu (j)  y = Relu (w)"}).empty());
  CHECK(declined(fuse_window_mask, graph(), 17) == "Attention needs opset 23");
}
