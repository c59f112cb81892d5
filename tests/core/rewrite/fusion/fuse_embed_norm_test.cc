#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// Words, positions counted from 0, and the segment that all tokens have.
std::string graph(const std::string& segment, const std::string& norm = "LayerNormalization (s, S, B)") {
  return "g (int64[N,M] ids, float[30,6] W, float[32,6] P, float[2,6] T, float[6] S, float[6] B) => (float[N,M,6] y) "
         "<int64 zero = {0}, int64 one = {1}, int64[1] first = {0}, int64[2] both = {0, 1}> { "
         "w = Gather (W, ids)  shape = Shape (ids)  m = Gather (shape, one)  r = Range (zero, m, one) "
         "i = Unsqueeze (r, first)  p = Gather (P, i) " +
         segment + "  s = Add (a, p)  y = " + norm + " }";
}

const char* kOne = "k = ConstantOfShape <value = int64[1] {0}> (shape)  t = Gather (T, k)  a = Add (w, t)";

}  // namespace

TEST_CASE("embeddings that are looked up and normalized are one operator") {
  CHECK(rewritten(fusion::fuse_embed_norm, graph(kOne), 17, 1e-5, Target::kOrt) == "Cast EmbedLayerNormalization");
  CHECK(rewritten(fusion::fuse_embed_norm,
                  R"(g (int32[N,4] ids, float[30,6] W, float[32,6] P, float[6] S, float[6] B) =>
    (float[N,4,6] y) <int64[1,4] i = {0, 1, 2, 3}> {
    w = Gather (W, ids)  p = Gather (P, i)  s = Add (p, w)  y = LayerNormalization (s, S, B) })",
                  17, 1e-5, Target::kOrt) == "EmbedLayerNormalization");
}

TEST_CASE("a normalization over more than each row is another one") {
  CHECK(declined(fusion::fuse_embed_norm, graph(kOne, "LayerNormalization <axis = 1> (s, S, B)"), 17, Target::kOrt) ==
        "the normalization is not over one row with scale and bias");
}

TEST_CASE("segments may be those of each token") {
  const auto with = [](const std::string& types) {
    return "g (int64[N,M] ids, int64[" + types +
           "] types, float[30,6] W, float[32,6] P, float[2,6] T, float[6] S, float[6] B) => (float[N,M,6] y) "
           "<int64[1,9] counts = {0, 1, 2, 3, 4, 5, 6, 7, 8}, int64[1] zero = {0}, int64[1] axis = {1}, int64 one = "
           "{1}> "
           "{ w = Gather (W, ids)  t = Gather (T, types)  a = Add (w, t)  shape = Shape (ids)  m = Gather (shape, one) "
           "u = Unsqueeze (m, zero)  i = Slice (counts, zero, u, axis)  p = Gather (P, i)  s = Add (a, p) "
           "y = LayerNormalization (s, S, B) }";
  };
  CHECK(rewritten(fusion::fuse_embed_norm, with("N,M"), 17, 1e-5, Target::kOrt) == "Cast Cast EmbedLayerNormalization");
  CHECK(declined(fusion::fuse_embed_norm, with("1,M"), 17, Target::kOrt) == "the segments are not those of each token");
}

TEST_CASE("other sums of look-ups stay") {
  CHECK(declined(fusion::fuse_embed_norm, graph(kOne), 17) == "only ONNX Runtime has it");
  CHECK(declined(fusion::fuse_embed_norm, graph("t = Gather (T, shape)  u = ReduceSum (t)  a = Add (w, u)"), 17,
                 Target::kOrt) == "not a sum of words and positions from tables");
  CHECK(declined(fusion::fuse_embed_norm, graph("a = Neg (w)"), 17, Target::kOrt) ==
        "not a sum of words and positions from tables");
  CHECK(declined(fusion::fuse_embed_norm, R"(g (int32[N,4] ids, float[30,6] W, float[32,6] P, float[6] S, float[6] B) =>
    (float[N,4,6] y) <int64[1,4] i = {1, 2, 3, 4}> {
    w = Gather (W, ids)  p = Gather (P, i)  s = Add (p, w)  y = LayerNormalization (s, S, B) })",
                 17, Target::kOrt) == "not a sum of words and positions from tables");
}
