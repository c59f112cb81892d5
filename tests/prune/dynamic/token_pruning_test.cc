#include "prune/dynamic/token_pruning.h"

#include <fmt/core.h>

#include <algorithm>

#include "backends/reference/backend.h"
#include "core/ir/infer.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

/// An encoder of two blocks over 6 tokens of 4 numbers, two heads; `batch`: N, or a number. Attention is kept off
/// tokens by their first number, which no block changes (C is where each adds up). Ends in `tail`.
std::string encoder(const std::string& batch, const std::string& tail) {
  std::string text = fmt::format(
      "g (float[{0},6,4] x0, float[4,4] Q, float[4,4] K, float[4,4] V, float[4,3] W, "
      "float[6,4] P) => (float y) {{\n",
      batch);
  text +=
      "S = Constant <value = int64[4] {0, 6, 2, 2}> ()\nR = Constant <value = int64[3] {0, 6, 4}> ()\n"
      "F = Constant <value = float[4,1] {1, 0, 0, 0}> ()\nL = Constant <value = float[4] {0, 1, 1, 1}> ()\n"
      "U = Constant <value = int64[4] {0, 1, 1, 6}> ()\n";
  for (int b = 0; b < 2; ++b) {
    const std::string block = R"(
      l# = Mul (x#, L)
      q# = MatMul (l#, Q)
      k# = MatMul (l#, K)
      v# = MatMul (l#, V)
      qh# = Reshape (q#, S)
      kh# = Reshape (k#, S)
      vh# = Reshape (v#, S)
      qt# = Transpose <perm = [0, 2, 1, 3]> (qh#)
      kt# = Transpose <perm = [0, 2, 3, 1]> (kh#)
      vt# = Transpose <perm = [0, 2, 1, 3]> (vh#)
      s# = MatMul (qt#, kt#)
      f# = MatMul (x#, F)
      ft# = Transpose <perm = [0, 2, 1]> (f#)
      fu# = Reshape (ft#, U)
      sm# = Add (s#, fu#)
      p# = Softmax <axis = -1> (sm#)
      o# = MatMul (p#, vt#)
      ot# = Transpose <perm = [0, 2, 1, 3]> (o#)
      or# = Reshape (ot#, R)
      ol# = Mul (or#, L)
      x@ = Add (x#, ol#)
)";
    for (size_t i = 0; i < block.size(); ++i)
      text += block[i] == '#' ? std::to_string(b) : block[i] == '@' ? std::to_string(b + 1) : std::string(1, block[i]);
  }
  return text + tail + "}";
}

const char* const kFirst = R"(
  I = Constant <value = int64 {0}> ()
  c = Gather <axis = 1> (x2, I)
  y = MatMul (c, W)
)";
const char* const kMean = R"(
  c = ReduceMean <axes = [1], keepdims = 0> (x2)
  y = MatMul (c, W)
)";

Model typed(const std::string& text, int64_t opset = 17) {
  Model model = test::fixture(text, opset);
  infer(model, standard_types);
  return model;
}

std::vector<float> run(const Model& model, const Tensor& x) {
  return to_floats(reference_backend()->compile(model, {})->run(std::vector<Datum>{x})[0].tensor());
}

/// Tokens of small numbers; those listed, for each sample, are such that no attention looks at them.
Tensor tokens(const std::vector<std::vector<size_t>>& ignored) {
  const auto n = static_cast<int64_t>(ignored.size());
  Tensor x = test::uniform({n, 6, 4}, -0.5, 0.5);
  float* at = x.mutable_data<float>();
  for (size_t s = 0; s < ignored.size(); ++s)
    for (size_t t = 0; t < 6; ++t)
      at[(s * 6 + t) * 4] = std::count(ignored[s].begin(), ignored[s].end(), t) ? -80.0F : 0.0F;
  return x;
}

void require_close(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-5));
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string why(const std::string& text, int64_t opset = 17) {
  const prune::TokenPlaces found = prune::token_places(typed(text, opset), standard_types);
  std::string reasons;
  for (const auto& [node, reason] : found.left) reasons += reason + "; ";
  return reasons;
}

}  // namespace

TEST_CASE("tokens that no attention looks at go, each sample's own, and the class token says the same") {
  for (const char* batch : {"N", "1"}) {
    const Model source = typed(encoder(batch, kFirst));
    const prune::TokenPlaces found = prune::token_places(source, standard_types);
    REQUIRE(found.places.size() == 2);
    for (const prune::TokenPlace& place : found.places) {
      CHECK(place.tokens == 6);
      CHECK(place.axis == 1);
      CHECK(place.first_stays);
      Model pruned = clone(source);
      prune::prune_tokens(pruned, place, 4, standard_types);
      require_valid(pruned, "the test");
      const std::vector<std::vector<size_t>> ignored = *batch == '1'
                                                           ? std::vector<std::vector<size_t>>{{2, 5}}
                                                           : std::vector<std::vector<size_t>>{{2, 5}, {1, 3}, {3, 4}};
      const Tensor x = tokens(ignored);
      const std::vector<float> expected = run(source, x);
      CHECK(expected[0] != expected[1]);
      require_close(run(pruned, x), expected);
      if (place.value != found.places[0].value) continue;  // behind the last attention only the class token counts
      // The class token stays even where nothing looks at it; one of the others that matter goes then.
      std::vector<std::vector<size_t>> first(ignored.size(), {0, 5});
      const Tensor z = tokens(first);
      CHECK(run(pruned, z) != run(source, z));
    }
  }
}

TEST_CASE("tokens go at several places one after the other") {
  const Model source = typed(encoder("N", kFirst));
  Model pruned = clone(source);
  for (const int64_t keep : {5, 3}) {
    const prune::TokenPlaces now = prune::token_places(pruned, standard_types);
    REQUIRE(now.places.size() == (keep == 5 ? 2 : 1));  // the first is behind an attention that has chosen already
    const prune::TokenPlace& place = now.places[0];
    CHECK(place.tokens == (keep == 5 ? 6 : 5));
    prune::prune_tokens(pruned, place, keep, standard_types);
  }
  const Tensor x = tokens({{1, 2, 3}, {2, 4, 5}});
  require_close(run(pruned, x), run(source, x));
}

TEST_CASE("of a mean over tokens those stay that are looked at the most") {
  const Model source = typed(encoder("N", kMean));
  const prune::TokenPlaces found = prune::token_places(source, standard_types);
  REQUIRE(found.places.size() == 2);
  CHECK_FALSE(found.places[1].first_stays);
  Model pruned = clone(source);
  prune::prune_tokens(pruned, found.places[1], 4, standard_types);
  const Tensor x = tokens({{0, 3}, {2, 4}});
  // The source whose mean is over the same tokens: that of all, without the parts of the others.
  Model whole = clone(source);
  whole.graph->set_output(0, whole.graph->find("x2"));
  const std::vector<float> x2 = run(whole, x), w = to_floats(*source.graph->find("W")->constant);
  std::vector<float> expected(6);
  for (size_t s = 0; s < 2; ++s)
    for (size_t t = 0; t < 6; ++t) {
      if (x.data<float>()[(s * 6 + t) * 4] < 0) continue;
      for (size_t d = 0; d < 4; ++d)
        for (size_t c = 0; c < 3; ++c) expected[s * 3 + c] += x2[(s * 6 + t) * 4 + d] / 4 * w[d * 3 + c];
    }
  require_close(run(pruned, x), expected);
}

TEST_CASE("how many tokens stay") {
  prune::TokenPlace place;
  place.tokens = 10;
  CHECK(prune::tokens_left(place, 0.5) == 5);
  CHECK(prune::tokens_left(place, 1) == 1);
  CHECK(prune::tokens_left(place, 0) == 10);
  place.first_stays = true;
  CHECK(prune::tokens_left(place, 1) == 2);
}

TEST_CASE("where tokens are seen by their places or their number none go, and why is said") {
  const auto with = [](const char* tail) { return encoder("N", tail); };
  CHECK(contains(why(with("y = MatMul (x2, W)\n")), "the output 'y' has a part for each token"));
  CHECK(contains(why(with("I = Constant <value = int64 {3}> ()\nc = Gather <axis = 1> (x2, I)\ny = MatMul (c, W)\n")),
                 "sees tokens by their places"));
  CHECK(contains(why(with("z = Add (x2, P)\nc = ReduceMean <axes = [1], keepdims = 0> (z)\ny = MatMul (c, W)\n")),
                 "'P', which has a part for each token"));
  CHECK(contains(why(with("I = Constant <value = int64[1] {1}> ()\nc = ReduceSum <keepdims = 0> (x2, I)\n"
                          "y = MatMul (c, W)\n")),
                 "depends on how many tokens there are"));
  CHECK(contains(why(with("z = Transpose <perm = [0, 2, 1]> (x2)\nc = Conv (z, E)\ny = GlobalAveragePool (c)\n")
                         .replace(0, 3, "g (float[2,4,3] E, ")),
                 "Conv"));
  CHECK(contains(why(with("I = Constant <value = int64[2] {0, -1}> ()\nc = Reshape (x2, I)\ny = Relu (c)\n")),
                 "the output 'y'"));
  CHECK(test::thrown_by([] {
          Model old = typed(encoder("N", kFirst), 11);
          prune::prune_tokens(old, prune::token_places(old, standard_types).places.at(0), 4, standard_types);
        }).code == Code::kUnsupported);
}
