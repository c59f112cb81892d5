#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fuse_space_to_depth;
using test::declined;
using test::rewritten;

namespace {

/// Four Slices of rows and columns at once, joined; `starts` gives the first row and column of each.
struct Focus {
  std::string x = "double[N,3,6,4] x", starts[4] = {"zz", "zo", "oz", "oo"}, axis = "1", step = "two";
  std::string end = "y = Neg (c)", output = "double[N,12,3,2] y", more = "";
};

std::string graph(const Focus& f) {
  std::string text =
      "g (" + f.x + ", double[5,12,2,1] W, double[5,3,2,1] G) => (" + f.output +
      ") <int64[2] zz = {0, 0}, int64[2] zo = {0, 1}, int64[2] oz = {1, 0}, int64[2] oo = {1, 1}, "
      "int64[2] big = {9223372036854775807, 100}, int64[2] at = {2, -1}, int64[2] two = {2, 2}, "
      "int64[2] uneven = {2, 1}, int64[1] o = {1}, int64[1] t = {2}, int64[1] z = {0}, int64[1] e = {6}> {";
  for (size_t i = 0; i < 4; ++i)
    text += " p" + std::to_string(i) + " = Slice (x, " + f.starts[i] + ", big, at, " + f.step + ") ";
  return text + "c = Concat <axis = " + f.axis + "> (p0, p1, p2, p3) " + f.end + f.more + " }";
}

}  // namespace

TEST_CASE("pixels by turns that become channels are one operator") {
  CHECK(rewritten(fuse_space_to_depth, graph({})) == "SpaceToDepth Neg");
  CHECK(rewritten(fuse_space_to_depth, graph({.axis = "-3", .end = "y = Identity (c)"})) == "SpaceToDepth Identity");
}

TEST_CASE("rows and columns may be cut one after the other") {
  const std::string text =
      "g (double[N,3,6,4] x) => (double[N,12,3,2] y) <int64[1] z = {0}, int64[1] o = {1}, int64[1] t = {2}, int64[1] "
      "big = {9223372036854775807}, int64[1] rows = {2}, int64[1] columns = {3}> { a = Slice (x, z, big, rows, t) "
      "b = Slice (x, o, big, rows, t)  p = Slice (a, z, big, columns, t)  q = Slice (a, o, big, columns, t) "
      "r = Slice (b, z, big, columns, t)  s = Slice (b, o, big, columns, t)  c = Concat <axis = 1> (p, q, r, s) "
      "y = Neg (c) }";
  CHECK(rewritten(fuse_space_to_depth, text) == "SpaceToDepth Neg");
}

TEST_CASE("images of any size have whole blocks where the pieces go to the end and fit one another") {
  CHECK(rewritten(fuse_space_to_depth, graph({.x = "double[N,3,H,4] x", .output = "double[N,12,P,2] y"})) ==
        "SpaceToDepth Neg");
}

TEST_CASE("in another order the weight of a convolution moves") {
  const Focus f{.starts = {"zz", "oz", "zo", "oo"}, .end = "y = Conv (c, W)", .output = "double[N,5,2,2] y"};
  CHECK(rewritten(fuse_space_to_depth, graph(f)) == "SpaceToDepth Conv");
}

TEST_CASE("other pieces stay") {
  const auto reason = [](const Focus& f) { return declined(fuse_space_to_depth, graph(f)); };
  const std::string order = "the pieces have another order, and no convolution by a constant reads them";
  CHECK(reason({.starts = {"zz", "oz", "zo", "oo"}}) == order);
  CHECK(reason({.starts = {"zz", "zo", "oz", "zz"}}) == "pixels of a block are missing or come twice");
  CHECK(reason({.x = "double[N,3,H,W] x", .output = "double[N,12,P,Q] y"}) ==
        "the image may not be made of whole blocks");  // one Slice ends at the hundredth column
  CHECK(reason({.x = "int32[N,3,6,4] x", .output = "int32[N,12,3,2] y"}) ==
        "SpaceToDepth of other elements than floats is rarely run");
  CHECK(reason({.axis = "0", .output = "double[P,3,3,2] y"}) == "the pieces do not become channels");
  CHECK(reason({.step = "uneven", .output = "double[N,12,3,Q] y"}).empty());
}

TEST_CASE("pieces that are read elsewhere stay, and so do weights") {
  const auto reason = [](const Focus& f) { return declined(fuse_space_to_depth, graph(f)); };
  CHECK(reason({.output = "double[N,12,3,2] y, double[N,3,3,2] q", .more = "  q = Neg (p1)"}) ==
        "a part of the pixels is used elsewhere too");
  CHECK(reason({.output = "double[N,12,3,2] y, double[N,3,3,2] p1"}) == "a part of the pixels is used elsewhere too");
  const std::string order = "the pieces have another order, and no convolution by a constant reads them";
  Focus f{.starts = {"zz", "oz", "zo", "oo"}, .end = "y = Conv <group = 4> (c, G)", .output = "double[N,5,2,2] y"};
  f.end = "d = Conv (c, W)  y = Conv (c, W)  q = Neg (d)";
  f.output = "double[N,5,2,2] y, double[N,5,2,2] q";
  CHECK(reason(f).find(order) != std::string::npos);
  f.end = "y = Conv (c, W)  q = Exp (W)";
  f.output = "double[N,5,2,2] y, double[5,12,2,1] q";
  CHECK(reason(f) == order + "; the weight of the convolution is used elsewhere too");
}

TEST_CASE("patches whose channels come last are parted and turned") {
  const auto text = [](const std::string& x, const std::string& order, const std::string& axis,
                       const std::string& more) {
    return "g (double[" + x +
           "] x) => (double[N,3,2,12] y) <int64[2] zz = {0, 0}, int64[2] zo = {0, 1}, int64[2] oz = "
           "{1, 0}, int64[2] oo = {1, 1}, int64[2] big = {9223372036854775807, 100}, int64[2] at = {1, 2}, int64[2] "
           "two "
           "= {2, 2}> { p0 = Slice (x, zz, big, at, two)  p1 = Slice (x, oz, big, at, two)  "
           "p2 = Slice (x, zo, big, at, two)  p3 = Slice (x, oo, big, at, two)  c = Concat <axis = " +
           axis + "> (" + order + ")  y = Neg (c)  " + more + " }";
  };
  const std::string turned = "Reshape Transpose Reshape Neg", by_columns = "p0, p1, p2, p3";
  CHECK(rewritten(fuse_space_to_depth, text("N,6,4,3", by_columns, "3", "")) == turned);
  CHECK(rewritten(fuse_space_to_depth, text("N,6,4,3", "p0, p2, p1, p3", "-1", "")) == turned);
  CHECK(declined(fuse_space_to_depth, text("N,6,4,3", "p1, p0, p2, p3", "3", "")) ==
        "the pieces come neither by rows nor by columns");
  CHECK(declined(fuse_space_to_depth, text("N,5,4,3", by_columns, "3", "")) ==
        "the image may not be made of whole blocks");
  CHECK(declined(fuse_space_to_depth, text("N,6,4,3", by_columns, "3", "z = Neg (p0)")) ==
        "a part of the pixels is used elsewhere too");
  CHECK(declined(fuse_space_to_depth, text("N,6,4,3", by_columns, "2", "")) == "the pieces do not become channels");
}
