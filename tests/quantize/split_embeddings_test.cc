#include "quantize/split_embeddings.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using quantize::split_embeddings;
using test::declined;
using test::rewritten;

namespace {

std::string embeddings(const std::string& inputs, const std::string& outputs = "y",
                       const std::string& all = "double[N,S,4] y") {
  return "g () => (" + all +
         ") <int32[2,3] ids = {0, 2, 1, 1, 0, 2}, int32[2,3] segments = {0, 1, 1, 0, 0, 1}, int32[2,3] places = {2, 1, "
         "0, 0, 1, 2}, int32[2,3] mask = {1, 1, 0, 1, 1, 1}, double[3,4] W = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}, "
         "double[5,4] P = {3, 1, 2, 4, 1, 5, 2, 6, 9, 8, 7, 6, 1, 1, 1, 2, 2, 2, 3, 3}, "
         "double[2,4] T = {1, 3, 2, 1, 5, 4, 2, 7}, double[4] G = {1, 2, 3, 4}, double[4] B = {4, 3, 2, 1}> { " +
         outputs + " = com.microsoft.EmbedLayerNormalization <epsilon = 0.01> (" + inputs + ") }";
}

}  // namespace

TEST_CASE("tables of embeddings are read by Gathers of their own") {
  CHECK(rewritten(split_embeddings, embeddings("ids, , W, P, , G, B")) == "Gather Shape Slice Add LayerNormalization");
  CHECK(rewritten(split_embeddings, embeddings("ids, segments, W, P, T, G, B")) ==
        "Gather Shape Slice Add Gather Add LayerNormalization");
  CHECK(rewritten(split_embeddings, embeddings("ids, , W, P, , G, B, , places")) ==
        "Gather Gather Add LayerNormalization");
  CHECK(rewritten(split_embeddings, embeddings("ids, , W, P, , G, B", "y, l, s", "double[N,S,4] y, double[N,S,4] s")) ==
        "Gather Shape Slice Add LayerNormalization");
}

TEST_CASE("embeddings stay together whose lengths are read, and before LayerNormalization") {
  CHECK(declined(split_embeddings, embeddings("ids, , W, P, , G, B, mask", "y, l", "double[N,S,4] y, int32[N] l")) ==
        "its lengths are read");
  CHECK(declined(split_embeddings, embeddings("ids, , W, P, , G, B"), 16) == "LayerNormalization needs opset 17");
}
