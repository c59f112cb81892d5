#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// x turned as three heads of four elements: `before` makes h [B, 3, 5, 4] of x, y is what RotaryEmbedding makes of it.
Model graph(const std::string& before, const std::string& attributes = "", const std::string& after = "",
            const std::string& output = "y") {
  Model model = test::fixture(
      "g (float[B,5,12] x, float[9,2] C, float[9,2] S, float[4] One) => (float[B,3,5,4] " + output +
          ") <int64[1] start = "
          "{0}, int64[4] split = {0, 0, 3, 4}, int64[4] other = {0, 3, 5, 4}> { " +
          before + "  y = com.microsoft.RotaryEmbedding " + attributes + " (h, start, C, S)  " + after + " }",
      17);
  model.set_opset("com.microsoft", 1);
  return model;
}

std::string turned(const std::string& before, const std::string& attributes = "") {
  return test::rewritten(fusion::fuse_head_rows, graph(before, attributes), 1e-6, Target::kOrt);
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
  CHECK(test::rewritten(fusion::fuse_head_rows, text, 23) == "RotaryEmbedding Reshape Transpose");
}

TEST_CASE("heads that come otherwise, or that others read, stay") {
  const auto kept = [](Model model) {
    infer(model);
    return run_pass(model, fusion::fuse_head_rows, test::pass_context()).applied == 0;
  };
  CHECK_FALSE(kept(graph(kHeads)));
  CHECK(kept(graph("h = Reshape (x, other)")));
  CHECK(kept(graph("r = Reshape (x, other)  h = Transpose <perm = [0, 1, 2, 3]> (r)")));
  CHECK(kept(graph(kHeads, "", "z = Neg (h)")));
}

namespace {

/// x as three heads of four elements, normalized by what `norm` says of h [B, 3, 5, 4].
std::string normalized(const std::string& norm, const std::string& outputs = "double[B,3,5,4] y") {
  return "g (double[B,5,12] x, double[4] S, double[4] T, double[5,4] W) => (" + outputs +
         ") <int64[4] split = {0, 0, 3, 4}> { " + kHeads + "  " + norm + " }";
}

std::string declined(const std::string& text) { return test::declined(fusion::fuse_head_rows, text); }

}  // namespace

TEST_CASE("heads that were put in front are normalized where they lay") {
  CHECK(test::rewritten(fusion::fuse_head_rows, normalized("y = LayerNormalization <epsilon = 0.001> (h, S, T)")) ==
        "Reshape LayerNormalization Transpose");
  CHECK(test::rewritten(fusion::fuse_head_rows, normalized("y = LayerNormalization <axis = 3> (h, S)")) ==
        "Reshape LayerNormalization Transpose");
  CHECK(test::rewritten(fusion::fuse_head_rows, normalized("y = RMSNormalization (h, S)"), 23) ==
        "Reshape RMSNormalization Transpose");
}

TEST_CASE("heads that are normalized and then turned, or the other way round, are both where they lay") {
  const std::string norm = " = LayerNormalization (", scale = ", One)", split = "r = Reshape (x, split)  ";
  CHECK(turned(split + "t = Transpose <perm = [0, 2, 1, 3]> (r)  h" + norm + "t" + scale) ==
        "Reshape LayerNormalization Reshape RotaryEmbedding Reshape Transpose");
  CHECK(test::rewritten(fusion::fuse_head_rows, graph(kHeads, "", "z" + norm + "y" + scale, "z"), 1e-6, Target::kOrt) ==
        "RotaryEmbedding Reshape LayerNormalization Transpose");
}

TEST_CASE("heads that are normalized together, otherwise for each row, or read by others, stay") {
  CHECK(declined(normalized("y = LayerNormalization <axis = 2> (h, W)")) == "it normalizes heads together");
  CHECK(declined(normalized("y = LayerNormalization (h, W)")) == "its scale may not be alike in all heads");
  CHECK(declined(normalized("y = LayerNormalization (h, S)  z = Neg (h)", "double[B,3,5,4] y, double[B,3,5,4] z"))
            .empty());
  CHECK(declined(normalized("y, z = LayerNormalization (h, S)", "double[B,3,5,4] y, double[B,3,5,1] z")).empty());
}
