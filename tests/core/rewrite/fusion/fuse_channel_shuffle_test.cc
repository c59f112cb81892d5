#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using fusion::fuse_channel_shuffle;
using test::declined;
using test::rewritten;

namespace {

/// Channels of four groups interleaved, the picture parted into `rest`, whose sizes come from the picture itself.
std::string graph(const std::string& rest = "h, w", const std::string& perm = "0, 2, 1, 3, 4",
                  const std::string& groups = "4") {
  return "g (double[N,12,H,W] x) => (double[N,12,H,W] y) <int64[1] groups = {" + groups +
         "}, int64[1] three = {3}, int64[1] l0 = {0}, int64[1] l1 = {1}, int64[1] l2 = {2}, int64[1] l3 = {3}, "
         "int64[1] l4 = {4}> { s = Shape (x)  n = Slice (s, l0, l1)  h = Slice (s, l2, l3)  w = Slice (s, l3, l4)  "
         "hw = Mul (h, w)  first = Concat <axis = 0> (n, groups, three, " +
         rest + ")  p = Reshape (x, first)  t = Transpose <perm = [" + perm + "]> (p)  y = Reshape (t, s) }";
}

const std::string kGather = "Gather";

}  // namespace

TEST_CASE("interleaved channels are one Gather whatever the size of the picture") {
  CHECK(rewritten(fuse_channel_shuffle, graph(), 17) == kGather);
  CHECK(rewritten(fuse_channel_shuffle, graph("hw", "0, 2, 1, 3"), 17) == kGather);
  CHECK(rewritten(fuse_channel_shuffle,
                  R"(g (double[2,12,5] x) => (double[2,12,5] y) <int64[4] p = {2, 3, 4, 5}, int64[3] j = {2, 12, 5}> {
    a = Reshape (x, p)  b = Transpose <perm = [0, 2, 1, 3]> (a)  y = Reshape (b, j) })") == kGather);
}

TEST_CASE("another order, a part of the picture, a second reader and targets that find it themselves stay") {
  CHECK(declined(fuse_channel_shuffle, graph("h, w", "0, 2, 1, 4, 3"), 17) == "other axes are turned");
  CHECK(declined(fuse_channel_shuffle, R"(g (double[2,12,4] x) => (double[2,12,4] y)
    <int64[5] p = {2, 12, 1, 2, 2}, int64[3] j = {2, 12, 4}> {
    a = Reshape (x, p)  b = Transpose <perm = [0, 1, 2, 4, 3]> (a)  y = Reshape (b, j) })") == "other axes are turned");
  CHECK(declined(fuse_channel_shuffle, R"(g (double[2,12,4] x) => (double[2,12,4] y)
    <int64[4] p = {2, 4, 6, 2}, int64[3] j = {2, 12, 4}> {
    a = Reshape (x, p)  b = Transpose <perm = [0, 2, 1, 3]> (a)  y = Reshape (b, j) })") ==
        "other axes than the channels are parted");
  CHECK(declined(fuse_channel_shuffle, R"(g (double[2,12,4] x) => (double[2,12,4] y, double[2,4,3,4] b)
    <int64[4] p = {2, 3, 4, 4}, int64[3] j = {2, 12, 4}> {
    a = Reshape (x, p)  b = Transpose <perm = [0, 2, 1, 3]> (a)  y = Reshape (b, j) })") ==
        "the result of Transpose giving 'b' is used elsewhere too");
  CHECK(declined(fuse_channel_shuffle, graph(), 17, Target::kTensorrt) ==
        "the target finds the channel shuffle by itself");
}

TEST_CASE("texts stay") {
  CHECK(declined(fuse_channel_shuffle,
                 R"(g (string[2,12,5] x) => (string[2,12,5] y) <int64[4] p = {2, 3, 4, 5}, int64[3] j = {2, 12, 5}> {
    a = Reshape (x, p)  b = Transpose <perm = [0, 2, 1, 3]> (a)  y = Reshape (b, j) })") ==
        "ONNX Runtime gathers blocks of strings wrongly");
}
