#include "prune/structure/score.h"

#include <cmath>

#include "core/onnx/infer.h"
#include "prune/structure/propagate.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using namespace mlopt::prune;

namespace {

std::vector<std::vector<double>> scores_of(Model model, ChannelScore score) {
  infer(model, standard_types);
  const Relations all = relate_axes(model, SplitBy::kInner);
  return score_channels(all, find_groups(all).groups, score, 5);
}

constexpr const char* kTwoLayers =
    "g (float[1,2] x, float[2,3] V, float[3,1] W) => (float[1,1] y) "
    "{ a = MatMul (x, V) b = Relu (a) y = MatMul (b, W) }";

}  // namespace

TEST_CASE("a channel's score is the mean over the weights that read it of its norm relative to the others'") {
  Model model = test::fixture(
      "g (float[1,2] x, float[2,3] V, float[3,2] W, float[3,1] U) => (float[1,2] y, float[1,1] z) "
      "{ a = MatMul (x, V) b = Relu (a) y = MatMul (b, W) z = MatMul (b, U) }");
  model.graph->find("V")->constant = test::tensor({2, 3}, {30, 1, 1, 40, 0, -1});  // does not count
  model.graph->find("W")->constant = test::tensor({3, 2}, {3, 4, 0, 2, -1, 1});    // rows of norms 5, 2, 1.414
  model.graph->find("U")->constant = test::tensor({3, 1}, {1, 0, -2});
  const double root = std::sqrt(2.0), mean = (7 + root) / 3;
  const std::vector<std::vector<double>> l2 = scores_of(clone(model), ChannelScore::kL2);
  REQUIRE(l2.size() == 1);
  CHECK(l2[0][0] == Approx((5 / mean + 1) / 2));
  CHECK(l2[0][1] == Approx(2 / mean / 2));
  CHECK(l2[0][2] == Approx((root / mean + 2) / 2));
  const std::vector<std::vector<double>> l1 = scores_of(clone(model), ChannelScore::kL1);
  CHECK(l1[0][0] == Approx((7 / (11 / 3.0) + 1) / 2));
  CHECK(l1[0][2] == Approx((2 / (11 / 3.0) + 2) / 2));
}

TEST_CASE("a channel that nothing makes has no score, and where no weight reads it what makes it tells") {
  Model model = test::fixture(kTwoLayers);
  model.graph->find("V")->constant = test::tensor({2, 3}, {3, 0, 1, 4, 0, -1});
  model.graph->find("W")->constant = test::tensor({3, 1}, {1, 3, -2});
  CHECK(scores_of(std::move(model), ChannelScore::kL2)[0] == std::vector<double>{0.5, 0, 1});
  Model squares = test::fixture(
      "g (float[1,2] x, float[2,3] V, float[2,3] W) => (float[1,1] y) "
      "{ a = MatMul (x, V) b = MatMul (x, W) t = Transpose <perm = [1, 0]> (b) y = MatMul (a, t) }");
  squares.graph->find("V")->constant = test::tensor({2, 3}, {1, 0, 2, 0, 0, 0});
  squares.graph->find("W")->constant = test::tensor({2, 3}, {0, 3, 0, 1, 0, 2});
  CHECK(scores_of(std::move(squares), ChannelScore::kL2)[0] == std::vector<double>{0.75, 0.75, 1.5});
}

TEST_CASE("a weight that is no number is refused, and a mask of infinities does not count") {
  Model model = test::fixture(kTwoLayers);
  const std::vector<std::vector<double>> plain = scores_of(clone(model), ChannelScore::kL2);
  for (const float bad : {NAN, INFINITY})
    for (const std::string name : {"V", "W"}) {
      Model broken = clone(model);
      broken.graph->find(name)->constant->mutable_data<float>()[1] = bad;
      const Error error = test::thrown_by([&] { scores_of(std::move(broken), ChannelScore::kL2); });
      CHECK(error.code == Code::kBadInput);
      CHECK(test::says(error, "NaN or infinity, which cannot be compared: " + name));
      CHECK(test::says(error, "--skip " + name));
    }
  Model masked = test::fixture(
      "g (float[1,2] x, float[2,3] V, float[1,3] M, float[3,1] W) => (float[1,1] y) "
      "{ a = MatMul (x, V) m = Add (a, M) b = Relu (m) y = MatMul (b, W) }");
  for (const char* name : {"V", "W"}) masked.graph->find(name)->constant = model.graph->find(name)->constant;
  masked.graph->find("M")->constant = test::tensor({1, 3}, {-INFINITY, 0, 0});
  CHECK(scores_of(std::move(masked), ChannelScore::kL2) == plain);
}

TEST_CASE("where numbers are not compared one that is none is only not zero") {
  Model model = test::fixture(kTwoLayers);
  model.graph->find("V")->constant = test::tensor({2, 3}, {NAN, 0, 1, 4, 0, -1});
  model.graph->find("W")->constant = test::tensor({3, 1}, {1, 3, INFINITY});
  infer(model, standard_types);
  const Relations all = relate_axes(model, SplitBy::kInner);
  const std::vector<Group> groups = find_groups(all).groups;
  std::vector<std::vector<double>> scores = {{0.5, 0.25, 0.75}};
  put_zeros_first(all, groups, scores, false);
  CHECK(scores[0] == std::vector<double>{0.5, -1, 0.75});
  CHECK(test::says(test::thrown_by([&] { put_zeros_first(all, groups, scores); }), "NaN or infinity"));
}

TEST_CASE("the scale of a layer does not count") {
  const Model model = test::fixture(kTwoLayers);
  Model scaled = clone(model);
  float* w = scaled.graph->find("W")->constant->mutable_data<float>();
  for (int i = 0; i < 3; ++i) w[i] *= 1000;
  const auto before = scores_of(clone(model), ChannelScore::kL2),
             after = scores_of(std::move(scaled), ChannelScore::kL2);
  for (size_t i = 0; i < 3; ++i) CHECK(after[0][i] == Approx(before[0][i]).epsilon(1e-6));
}

TEST_CASE("a normalization behind a layer does not count, nor whether it was folded") {
  const std::string rest = "r = Relu (n) y = Conv (r, H) }";
  const std::string inputs =
      "g (float[1,3,4,4] x, float[6,3,1,1] U, float[6] S, float[6] B, float[6] M, float[6] V, "
      "float[2,6,1,1] H) => (float[1,2,4,4] y) { ";
  const Model source = test::fixture(inputs + "a = Conv (x, U) n = BatchNormalization (a, S, B, M, V) " + rest);
  Model folded = test::fixture(inputs + "n = Conv (x, U) " + rest);
  const auto values = [&](const char* name) { return source.graph->find(name)->constant->span<float>(); };
  float* u = folded.graph->find("U")->constant->mutable_data<float>();
  for (size_t i = 0; i < 18; ++i) u[i] *= values("S")[i / 3] / std::sqrt(values("V")[i / 3] + 1e-5F);
  CHECK(scores_of(clone(source), ChannelScore::kL2) == scores_of(std::move(folded), ChannelScore::kL2));
}

TEST_CASE("integers count as what they stand for") {
  Model stored = test::fixture(
      "g (float[1,2] x, float[2,3] V, int8[3,2] Q, float[2] S) => (float[1,2] y) "
      "{ W = DequantizeLinear <axis = 1> (Q, S) a = MatMul (x, V) b = Relu (a) y = MatMul (b, W) }");
  Model plain = test::fixture(
      "g (float[1,2] x, float[2,3] V, float[3,2] W) => (float[1,2] y) "
      "{ a = MatMul (x, V) b = Relu (a) y = MatMul (b, W) }");
  stored.graph->find("Q")->constant = test::tensor({3, 2}, {3, 9, -1, 4, 0, -1}, DType::kI8);
  stored.graph->find("S")->constant = test::tensor({2}, {1, 0.5});
  plain.graph->find("W")->constant = test::tensor({3, 2}, {3, 4.5, -1, 2, 0, -0.5});
  plain.graph->find("V")->constant = stored.graph->find("V")->constant;
  const auto integers = scores_of(std::move(stored), ChannelScore::kL2),
             numbers = scores_of(std::move(plain), ChannelScore::kL2);
  for (size_t i = 0; i < 3; ++i) CHECK(integers[0][i] == Approx(numbers[0][i]).epsilon(1e-6));
}
