#include "tests/support/catch.h"
#include "tests/support/infer.h"

using namespace mlopt::test;

namespace {

struct Case {
  int opset;
  const char *inputs, *node, *constants, *expected;
};

void check(const Case& c) {
  INFO(c.node << " " << c.constants);
  CHECK(types_in(c.inputs, c.node, "y", c.opset, nullptr, c.constants) == c.expected);
  CHECK(standard_type_in(c.inputs, c.node, "y", c.opset, c.constants) == c.expected);
}

std::string own(const std::string& inputs, const std::string& node, const std::string& constants = "") {
  return types_in(inputs, node, "y", 21, nullptr, constants);
}

}  // namespace

TEST_CASE("pieces, borders, copies and blocks have the shapes that ONNX's own inference gives") {
  for (const Case& c : std::initializer_list<Case>{
           {11, "float[2,7] x", "y, z = Split<axis = 1, split = [3, 4]>(x)", "", "float32[2,3]"},
           {11, "float[6,7] x", "z, y = Split(x)", "", "float32[3,7]"},
           {13, "float[2,7] x", "z, y = Split<axis = -1>(x, s)", "int64[2] s = {3, 4}", "float32[2,4]"},
           {18, "float[7,2] x", "a, b, y = Split<num_outputs = 3>(x)", "", "float32[1,2]"},
           {18, "float[7,2] x", "a, y, b = Split<num_outputs = 3>(x)", "", "float32[3,2]"},
           {2, "float[2,3] x", "y = Pad<pads = [0, 1, 2, -1]>(x)", "", "float32[4,3]"},
           {13, "float[2,3] x", "y = Pad(x, p)", "int64[4] p = {0, 1, 2, 0}", "float32[4,4]"},
           {18, "float[2,3] x", "y = Pad(x, p, , a)", "int64[2] p = {5, -1}, int64[1] a = {-1}", "float32[2,7]"},
           {13, "float[2,3] x", "y = Tile(x, r)", "int64[2] r = {3, 0}", "float32[6,0]"},
           {11, "float[2,7] x, int64[2,3] i", "y = GatherElements<axis = 1>(x, i)", "", "float32[2,3]"},
           {11, "float[2,7] x, int64[2,3] i, float[2,3] u", "y = ScatterElements<axis = 1>(x, i, u)", "",
            "float32[2,7]"},
           {11, "float[2,7] x, int64[4,1] i, float[4,7] u", "y = ScatterND(x, i, u)", "", "float32[2,7]"},
           {11, "float[1,12,2,5] x", "y = DepthToSpace<blocksize = 2, mode = \"CRD\">(x)", "", "float32[1,3,4,10]"}})
    check(c);
}

TEST_CASE("free dimensions go through pieces, borders, copies and blocks") {
  CHECK(own("float[N,6] x", "y, z = Split<axis = 1, num_outputs = 2>(x)") == "float32[N,3]");
  CHECK(own("float[N,6] x", "y, z = Split<num_outputs = 2>(x)") == "float32[?,6]");
  CHECK(own("float[N,6] x", "y = Pad(x, p)", "int64[4] p = {1, 0, 2, 0}") == "float32[N+3,6]");
  CHECK(own("float[N,6] x", "y = Tile(x, r)", "int64[2] r = {2, 2}") == "float32[2*N,12]");
  CHECK(own("float[N,4,H,3] x", "y = DepthToSpace<blocksize = 2>(x)") == "float32[N,1,2*H,6]");
}

TEST_CASE("what makes no sense has no type of ours") {
  for (const char* node :
       {"y, z = Split<axis = 2, num_outputs = 2>(x)", "y, z = Split(x)", "y, z = Split(x, s)", "y = Pad(x, s)",
        "y = Tile(x, t)", "y = DepthToSpace<blocksize = 0>(x)", "y = Pad(x, unknown)"}) {
    INFO(node);
    CHECK(own("float[2,6] x, int64[4] unknown", node, "int64[3] s = {1, 0, 1}, int64[1] t = {2}") == "?");
  }
}
