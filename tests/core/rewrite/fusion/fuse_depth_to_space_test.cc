#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& shape, const std::string& perm, const std::string& back) {
  return "g (double[N,8,6,4] x) => (double[N," + back.substr(3) + "] y) <int64[6] p = {" + shape + "}, int64[4] q = {" +
         back + "}> { a = Reshape (x, p)  b = Transpose <perm = [" + perm + "]> (a)  y = Reshape (b, q) }";
}

}  // namespace

TEST_CASE("pixels that are shuffled are one operator") {
  CHECK(rewritten(fusion::fuse_depth_to_space, graph("0, 2, 2, 2, 6, 4", "0, 1, 4, 2, 5, 3", "0, 2, 12, 8")) ==
        "DepthToSpace");
  CHECK(rewritten(fusion::fuse_depth_to_space, graph("0, 2, 2, 2, 6, 4", "0, 3, 4, 1, 5, 2", "0, 2, 12, 8")) ==
        "DepthToSpace");
  CHECK(rewritten(fusion::fuse_depth_to_space, graph("0, 8, 3, 2, 2, 2", "0, 3, 5, 1, 2, 4", "0, 32, 3, 2")) ==
        "SpaceToDepth");
}

TEST_CASE("pixels of pictures of any size are parted into blocks") {
  const auto text = [](const std::string& parts) {
    return R"(g (double[N,3,H,W] x) => (double[N,12,P,Q] y) <int64[1] two = {2}, int64[1] three = {3}, int64[1] c = {12},
      int64[1] l0 = {0}, int64[1] l1 = {1}, int64[1] l3 = {3}, int64[1] l4 = {4}> { s = Shape (x)
      n = Slice (s, l0, l1)  hh = Slice (s, two, l3)  ww = Slice (s, l3, l4)  h = Div (hh, two)  w = Div (ww, two)
      a = Concat <axis = 0> ()" +
           parts + R"()  b = Concat <axis = 0> (n, c, h, w)  p = Reshape (x, a)
      t = Transpose <perm = [0, 3, 5, 1, 2, 4]> (p)  q = Reshape (t, b)  y = Neg (q) })";
  };
  CHECK(rewritten(fusion::fuse_depth_to_space, text("n, three, h, two, w, two")) == "SpaceToDepth Neg");
  CHECK(declined(fusion::fuse_depth_to_space, text("n, three, two, h, two, w")) == "blocks of pixels go elsewhere");
}

TEST_CASE("integers stay, which ONNX Runtime does not shuffle") {
  std::string text = graph("0, 2, 2, 2, 6, 4", "0, 1, 4, 2, 5, 3", "0, 2, 12, 8");
  for (size_t at = text.find("double"); at != std::string::npos; at = text.find("double")) text.replace(at, 6, "int64");
  CHECK(declined(fusion::fuse_depth_to_space, text) == "runtimes shuffle only pixels that are floats");
}

TEST_CASE("other moves of pixels stay") {
  CHECK(declined(fusion::fuse_depth_to_space, graph("0, 2, 2, 2, 6, 4", "0, 1, 4, 3, 5, 2", "0, 2, 12, 8")) ==
        "blocks of pixels go elsewhere");
  CHECK(declined(fusion::fuse_depth_to_space, graph("0, 8, 3, 2, 2, 2", "0, 1, 3, 5, 2, 4", "0, 32, 3, 2")) ==
        "SpaceToDepth has the channels of a pixel together");
  CHECK(declined(fusion::fuse_depth_to_space, graph("0, 2, 2, 2, 6, 4", "0, 1, 4, 2, 5, 3", "0, 2, 12, 8"), 10) ==
        "DepthToSpace has one mode before opset 11");
  CHECK(declined(fusion::fuse_depth_to_space, graph("0, 2, 2, 2, 6, 4", "0, 1, 4, 2, 5, 3", "0, 4, 6, 8")) ==
        "blocks of pixels go elsewhere");
}

TEST_CASE("PixelUnshuffle of one channel is SpaceToDepth") {
  CHECK(
      rewritten(fusion::fuse_depth_to_space,
                "g (double[N,1,6,4] x) => (double[N,4,3,2] y) <int64[6] p = {0, 1, 3, 2, 2, 2}, int64[4] q = {0, 4, 3, "
                "2}> { a = Reshape (x, p)  b = Transpose <perm = [0, 1, 3, 5, 2, 4]> (a)  y = Reshape (b, q) }") ==
      "SpaceToDepth");
}

TEST_CASE("a convolution that reads PixelUnshuffle has its weight in the operator's order") {
  const auto text = [](const std::string& perm, const std::string& attrs, const std::string& weight,
                       const std::string& more) {
    return "g (double[N,3,6,4] x, double[" + weight +
           "] W) => (double[N,2,3,2] y) <int64[6] p = {0, 3, 3, 2, 2, 2}, "
           "int64[4] q = {0, 12, 3, 2}> { a = Reshape (x, p)  b = Transpose <perm = [" +
           perm +
           "]> (a)  "
           "c = Reshape (b, q)  y = Conv <pads = [1, 1, 1, 1]" +
           attrs + "> (c, W)  " + more + " }";
  };
  const std::string unshuffled = "0, 1, 3, 5, 2, 4", other = "SpaceToDepth has the channels of a pixel together";
  CHECK(rewritten(fusion::fuse_depth_to_space, text(unshuffled, "", "2,12,3,3", "")) == "SpaceToDepth Conv");
  CHECK(declined(fusion::fuse_depth_to_space, text(unshuffled, ", group = 2", "2,6,3,3", "")) ==
        other + "; the convolution has groups of channels");
  CHECK_FALSE(declined(fusion::fuse_depth_to_space, text(unshuffled, "", "2,12,3,3", "z = Neg (c)")).empty());
  CHECK(declined(fusion::fuse_depth_to_space, text(unshuffled, "", "2,12,3,3", "z = Neg (W)")) ==
        other + "; the weight of the convolution is used elsewhere too");
}

TEST_CASE("PixelUnshuffle of pictures of any size, as TorchScript's exporter writes it, is found too") {
  const auto text = [](const std::string& channels, const std::string& rows, const std::string& end) {
    return "g (double[N," + channels +
           ",H,W] x, double[2,12,3,3] W) => (double[N,P,Q,R] y) <int64[1] l3 = {3}, "
           "int64[2] l23 = {2, 3}, int64[5] rows = {" +
           rows +
           "}, int64[6] columns = {0, 0, 0, 0, -1, 2}, int64[6] "
           "joined = {0, -1, 1, 1, 0, 0}> { u = Unsqueeze (x, l3)  a = Reshape (u, rows)  b = Reshape (a, columns)  "
           "t = Transpose <perm = [0, 1, 3, 5, 2, 4]> (b)  j = Reshape (t, joined)  s = Squeeze (j, l23)  " +
           end + " }";
  };
  const std::string conv = "y = Conv <pads = [1, 1, 1, 1]> (s, W)", relu = "y = Relu (s)", rows = "0, 0, -1, 2, 0";
  CHECK(rewritten(fusion::fuse_depth_to_space, text("3", rows, conv), 17) == "SpaceToDepth Conv");
  CHECK(rewritten(fusion::fuse_depth_to_space, text("1", rows, relu), 17) == "SpaceToDepth Relu");
  CHECK(declined(fusion::fuse_depth_to_space, text("3", rows, relu), 17) ==
        "SpaceToDepth has the channels of a pixel together; not four axes as six");
  CHECK(declined(fusion::fuse_depth_to_space, text("1", "0, 0, -1, 3, 0", relu), 17) == "not four axes as six");
  CHECK_FALSE(declined(fusion::fuse_depth_to_space, text("3", rows, conv + "  z = Neg (j)"), 17).empty());
}
