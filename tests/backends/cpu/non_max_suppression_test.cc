#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

/// Boxes of sizes up to a tenth of the picture, in corners or as centre and size.
Tensor boxes(int64_t pictures, int64_t count, bool center, uint64_t seed) {
  Tensor all = uniform({pictures, count, 4}, 0, 1, DType::kF32, seed);
  auto* v = all.mutable_data<float>();
  for (int64_t i = 0; i < pictures * count; ++i, v += 4)
    for (int k = 0; k < 2; ++k) v[k + 2] = v[k + 2] * 0.1f + (center ? 0.0f : v[k]);
  return all;
}

Tensor number(double value, DType type = DType::kF32) { return tensor({1}, {value}, type); }

void require_kept(const Tensor& boxes, const Tensor& scores, double most, double overlap, double score,
                  int64_t center = 0) {
  const std::vector<Datum> inputs{boxes, scores, number(most, DType::kI64), number(overlap), number(score)};
  require_as_reference("NonMaxSuppression", inputs, {.attrs = {{"center_point_box", center, ""}}}, 0);
}

}  // namespace

TEST_CASE("boxes of several classes and pictures, by corners and by centres") {
  for (const int64_t center : {0, 1})
    for (const double most : {0.0, 5.0, 1000.0})
      for (const double overlap : {0.0, 0.2, 0.5, 1.0})
        require_kept(boxes(2, 700, center != 0, 3), uniform({2, 3, 700}, -1, 1), most, overlap, 0.1, center);
}

TEST_CASE("boxes with equal scores are taken in their order, corners count in either order") {
  Tensor scores = uniform({1, 1, 200}, 0, 4);
  for (int64_t i = 0; i < 200; ++i) scores.mutable_data<float>()[i] = std::floor(scores.data<float>()[i]);
  require_kept(uniform({1, 200, 4}, 0, 1), scores, 100, 0.3, -1);
}

TEST_CASE("what is no number, boxes without area, and none") {
  Tensor some = boxes(1, 40, false, 5), scores = uniform({1, 2, 40}, 0, 1);
  for (const int64_t i : {0, 5, 39}) scores.mutable_data<float>()[i] = std::nanf("");
  for (const int64_t i : {8, 21, 99}) some.mutable_data<float>()[i] = std::nanf("");
  for (int k = 0; k < 4; ++k) some.mutable_data<float>()[60 + k] = 0.5f;
  some.mutable_data<float>()[3] = INFINITY;
  require_kept(some, scores, 40, 0.1, -1);
  require_kept(boxes(1, 4, false, 1), uniform({1, 1, 4}, 0, 1), 4, 0.5, 9);
  require_kept(Tensor(DType::kF32, {1, 0, 4}), Tensor(DType::kF32, {1, 1, 0}), 4, 0.5, 0);
}

TEST_CASE("limits that are not given are 0, and then nothing is kept or no score is too low") {
  const Tensor some = boxes(1, 30, false, 2), scores = uniform({1, 1, 30}, -1, 1);
  require_as_reference("NonMaxSuppression", {some, scores}, {}, 0);
  require_as_reference("NonMaxSuppression", {some, scores, number(9, DType::kI64)}, {}, 0);
  require_as_reference("NonMaxSuppression", {some, scores, number(9, DType::kI64), Datum(), number(0)}, {}, 0);
}

TEST_CASE("boxes and scores that do not fit are refused in the reference's words") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const std::string error =
      error_of("NonMaxSuppression", {uniform({1, 5, 4}, 0, 1), uniform({1, 1, 6}, 0, 1)}, {.backend = cpu.get()});
  CHECK(error.find("do not fit") != std::string::npos);
}

}  // namespace mlopt::test
