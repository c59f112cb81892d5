#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// x turned as three heads of four elements: `before` makes h [B, 3, 5, 4] of x, y is what RotaryEmbedding makes of it.
Model graph(const std::string& before, const std::string& attributes = "", const std::string& after = "") {
  Model model = test::fixture(
      "g (float[B,5,12] x, float[9,2] C, float[9,2] S) => (float[B,3,5,4] y) <int64[1] start = "
      "{0}, int64[4] split = {0, 0, 3, 4}, int64[4] other = {0, 3, 5, 4}> { " +
          before + "  y = com.microsoft.RotaryEmbedding " + attributes + " (h, start, C, S)  " + after + " }",
      17);
  model.set_opset("com.microsoft", 1);
  return model;
}

std::string turned(const std::string& before, const std::string& attributes = "") {
  return test::rewritten(fusion::rope_rows, graph(before, attributes), 1e-6, Target::kOrt);
}

const std::string kHeads = "r = Reshape (x, split)  h = Transpose <perm = [0, 2, 1, 3]> (r)";

}  // namespace

TEST_CASE("heads that were put in front are turned where they lay") {
  CHECK(turned(kHeads) == "RotaryEmbedding Reshape Transpose");
  CHECK(turned(kHeads, "<interleaved = 1>") == "RotaryEmbedding Reshape Transpose");
  CHECK(turned(kHeads, "<num_heads = 3>") == "RotaryEmbedding Reshape Transpose");
  CHECK(turned("s = Reshape (x, split)  r = Relu (s)  h = Transpose <perm = [0, 2, 1, 3]> (r)") ==
        "Reshape Relu Reshape RotaryEmbedding Reshape Transpose");
}

TEST_CASE("a part of each head is turned as well, and by the standard's operator") {
  const std::string text =
      "g (float[2,5,12] x, float[2,5,1] C, float[2,5,1] S) => (float[2,3,5,4] y) <int64[4] split = {0, 0, 3, 4}> { " +
      kHeads + "  y = RotaryEmbedding <rotary_embedding_dim = 2> (h, C, S) }";
  CHECK(test::rewritten(fusion::rope_rows, text, 23) == "RotaryEmbedding Reshape Transpose");
}

TEST_CASE("heads that come otherwise, or that others read, stay") {
  const auto kept = [](Model model) {
    infer(model);
    return run_pass(model, fusion::rope_rows, test::pass_context()).applied == 0;
  };
  CHECK_FALSE(kept(graph(kHeads)));
  CHECK(kept(graph("h = Reshape (x, other)")));
  CHECK(kept(graph("r = Reshape (x, other)  h = Transpose <perm = [0, 1, 2, 3]> (r)")));
  CHECK(kept(graph(kHeads, "", "z = Neg (h)")));
}
