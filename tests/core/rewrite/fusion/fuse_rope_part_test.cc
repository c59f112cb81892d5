#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Heads x [B, 3, N, 8]; `parts` makes a and b of them, and `joined` y of the turned a and of b.
Model graph(const std::string& parts, const std::string& joined, const std::string& attributes = "") {
  Model model = test::fixture(
      "g (float[B,3,5,8] x, float[16,2] C, float[16,2] S) => (float[B,3,5,8] y) <int64[1] start = {0}, int64[2] sizes "
      "= {4, 4}, int64[1] l0 = {0}, int64[1] l2 = {2}, int64[1] l4 = {4}, int64[1] end = {99}, int64[1] last = {-1}> "
      "{ " +
          parts + "  r = com.microsoft.RotaryEmbedding <num_heads = 3" + attributes + "> (a, start, C, S)  " + joined +
          " }",
      17);
  model.set_opset("com.microsoft", 1);
  return model;
}

std::string turned(const std::string& parts, const std::string& joined) {
  return test::rewritten(fusion::fuse_rope_part, graph(parts, joined), 1e-6, Target::kOrt);
}

const std::string kSplit = "a, b = Split <axis = -1> (x, sizes)", kJoined = "y = Concat <axis = -1> (r, b)";

}  // namespace

TEST_CASE("heads whose first elements are turned are turned by one operator") {
  CHECK(turned(kSplit, kJoined) == "RotaryEmbedding");
  CHECK(turned(kSplit, "y = Concat <axis = 3> (r, b)") == "RotaryEmbedding");
  CHECK(turned("a = Slice (x, l0, l4, last)  b = Slice (x, l4, end, last)", kJoined) == "RotaryEmbedding");
}

TEST_CASE("the standard's operator turns a part too") {
  const std::string text =
      "g (float[2,3,5,8] x, float[2,5,2] C, float[2,5,2] S) => (float[2,3,5,8] y) <int64[2] sizes = {4, 4}> { " +
      kSplit + "  r = RotaryEmbedding <interleaved = 1> (a, C, S)  " + kJoined + " }";
  CHECK(test::rewritten(fusion::fuse_rope_part, text, 23) == "RotaryEmbedding");
}

TEST_CASE("other elements, another order and what others read stay") {
  const auto kept = [](const Model& model) {
    Model made = clone(model);
    infer(made);
    return run_pass(made, fusion::fuse_rope_part, test::pass_context()).applied == 0;
  };
  CHECK_FALSE(kept(graph(kSplit, kJoined)));
  CHECK(kept(graph("b, a = Split <axis = -1> (x, sizes)", kJoined)));
  CHECK(kept(graph(kSplit, "y = Concat <axis = -1> (b, r)")));
  CHECK(kept(graph(kSplit, kJoined + "  z = Neg (r)")));
  CHECK(kept(graph(kSplit, kJoined, ", rotary_embedding_dim = 4")));
  CHECK(kept(graph("a = Slice (x, l0, l4, last)  b = Slice (x, l2, end, last)  b0 = Slice (b, l2, end, last)",
                   "y = Concat <axis = -1> (r, b0)")));
  CHECK(kept(graph("n = Neg (x)  a = Slice (x, l0, l4, last)  b = Slice (n, l4, end, last)", kJoined)));
}
