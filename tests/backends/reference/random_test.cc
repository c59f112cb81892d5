#include <algorithm>
#include <cmath>

#include "core/base/keep_mask.h"
#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

struct Summary {
  double mean = 0, deviation = 0, low = 1e9, high = -1e9;
};

Summary summary(const Tensor& x) {
  Summary s;
  const std::vector<double> values = to_doubles(x);
  for (const double v : values) {
    s.mean += v / static_cast<double>(values.size());
    s.low = std::min(s.low, v);
    s.high = std::max(s.high, v);
  }
  for (const double v : values) s.deviation += (v - s.mean) * (v - s.mean) / static_cast<double>(values.size());
  s.deviation = std::sqrt(s.deviation);
  return s;
}

const Attr kShape = attr("shape", std::vector<int64_t>{100, 100});

TEST_CASE("RandomNormal and RandomUniform have their moments", "[reference]") {
  // Ten thousand values: five standard errors of the mean are 0.05 deviations.
  const Summary normal = summary(run_op("RandomNormal", {}, {{kShape, attr("mean", 3.0f), attr("scale", 2.0f)}}));
  REQUIRE(std::fabs(normal.mean - 3) < 0.1);
  REQUIRE(std::fabs(normal.deviation - 2) < 0.1);
  const Summary uniform = summary(run_op("RandomUniform", {}, {{kShape, attr("low", -1.0f), attr("high", 3.0f)}}));
  REQUIRE(uniform.low >= -1);
  REQUIRE(uniform.high < 3);
  REQUIRE(std::fabs(uniform.mean - 1) < 0.06);
}

TEST_CASE("types and shapes come from attributes or an input", "[reference]") {
  const Tensor like = counting({2, 3}, DType::kF16);
  const OpOptions wide{{attr("dtype", static_cast<int>(DType::kF64))}};
  REQUIRE(run_op("RandomNormalLike", {like}).dtype() == DType::kF16);
  REQUIRE(run_op("RandomUniformLike", {like}, wide).dtype() == DType::kF64);
  REQUIRE(run_op("RandomUniformLike", {like}, wide).dims() == Dims{2, 3});
  check_errors({{"RandomUniform", {}, {{kShape, attr("dtype", 7)}}, "does not take int64"},
                {"RandomUniformLike", {counting({2}, DType::kI32)}, {}, "does not take int32"}});
}

TEST_CASE("a seed fixes the values, of the node or of the run", "[reference]") {
  const auto draw = [](std::vector<Attr> attrs, uint64_t seed) {
    attrs.push_back(kShape);
    OpOptions options{std::move(attrs)};
    options.seed = seed;
    return run_op("RandomNormal", {}, options);
  };
  require_close(draw({}, 1), draw({}, 1), 0);
  require_close(draw({attr("seed", 5.0f)}, 1), draw({attr("seed", 5.0f)}, 2), 0);
  REQUIRE(number_at(draw({}, 1), 0) != number_at(draw({}, 2), 0));
  REQUIRE(number_at(draw({attr("seed", 5.0f)}, 1), 0) != number_at(draw({attr("seed", 6.0f)}, 1), 0));
}

TEST_CASE("Bernoulli and Multinomial follow the probabilities", "[reference]") {
  const Tensor p = run_op("Expand", {tensor({3, 1}, {0, 0.25, 1}), Tensor::ints({3, 4000})});
  const Tensor drawn = run_op("Bernoulli", {p}, {{attr("dtype", static_cast<int>(DType::kI32))}});
  REQUIRE(drawn.dtype() == DType::kI32);
  const std::vector<double> ones =
      to_doubles(run_op("ReduceSum", {run_op("Cast", {drawn}, {{attr("to", 1)}}), Tensor::ints({1})}));
  REQUIRE(ones[0] == 0);
  REQUIRE(std::fabs(ones[1] - 1000) < 140);  // five deviations
  REQUIRE(ones[2] == 4000);

  const Tensor logits = tensor({1, 3}, {std::log(1.0), std::log(3.0), -1e9});
  const std::vector<double> classes = to_doubles(run_op("Multinomial", {logits}, {{attr("sample_size", 4000)}}));
  REQUIRE(classes.size() == 4000);
  double second = 0;
  for (const double c : classes) {
    REQUIRE(c < 2);
    second += c;
  }
  REQUIRE(std::fabs(second - 3000) < 140);
}

TEST_CASE("Dropout passes on in inference and drops in training", "[reference]") {
  const Tensor x = run_op("Expand", {tensor({}, {2}), Tensor::ints({100, 100})});
  const Tensor all = run_op("Cast", {x}, {{attr("to", static_cast<int>(DType::kBool))}});
  check_cases({{"Dropout", {x}, {{}, 13, {}, 2}, {x, all}},
               {"Dropout", {x}, {{attr("ratio", 0.9f)}, 10, {}, 2}, {x, all}},
               {"Dropout", {x}, {{attr("is_test", 1)}, 6}, {x}},
               {"Dropout", {x, tensor({}, {0}), tensor({}, {1}, DType::kBool)}, {{}, 13, {}, 2}, {x, all}}});
  const std::vector<Datum> out =
      run_node("Dropout", {x, tensor({}, {0.75}), tensor({}, {1}, DType::kBool)}, {{}, 13, {}, 2});
  const std::vector<double> y = to_doubles(out[0].tensor()), mask = to_doubles(out[1].tensor());
  double kept = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    REQUIRE(y[i] == (mask[i] != 0 ? 8 : 0));
    kept += mask[i];
  }
  REQUIRE(std::fabs(kept - 2500) < 220);
  check_errors({{"Dropout", {x, tensor({}, {1}), tensor({}, {1}, DType::kBool)}, {}, "ratio"}});
}

OpOptions dropout(int axis, float ratio, int node = 3) {
  return {.attrs = {attr("axis", axis), attr("ratio", ratio), attr("node", node)}, .domain = "mlopt"};
}

const Tensor& keys() {
  static const Tensor kKeys = Tensor::ints({11, -12, 13});  // of two samples, and of both
  return kKeys;
}

TEST_CASE("a seeded dropout keeps what the mask of each sample keeps") {
  const Tensor x = uniform({3, 4, 5}, 1, 2, DType::kF64);
  const auto v = x.span<double>();
  for (const int axis : {1, -1}) {
    const Tensor y = run_op("SeededDropout", {x, keys()}, dropout(axis, 0.25f));
    REQUIRE(y.dims() == x.dims());
    int dropped = 0;
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 4; ++j)
        for (int64_t k = 0; k < 5; ++k) {
          const int64_t at = (i * 4 + j) * 5 + k, sample = j / 2, position = (i * 2 + j % 2) * 5 + k;
          const bool kept = axis < 0 ? KeepMask(13, 3, 0.25)[at] : KeepMask(sample == 0 ? 11 : -12, 3, 0.25)[position];
          const double expected = kept ? v[static_cast<size_t>(at)] / 0.75 : 0;
          CHECK(y.data<double>()[at] == Approx(expected).epsilon(1e-12));
          dropped += !kept;
        }
    CHECK(dropped > 5);
  }
}

TEST_CASE("a seeded dropout keeps its share and the mean") {
  const Tensor ones = tensor({2, 20000}, std::vector<double>(40000, 1));
  for (const float ratio : {0.1f, 0.5f, 0.8f}) {
    double kept = 0, sum = 0;
    for (const double y : to_doubles(run_op("SeededDropout", {ones, keys()}, dropout(0, ratio)))) {
      kept += y != 0;
      sum += y;
    }
    const auto p = static_cast<double>(ratio);
    CHECK(kept / 40000 == Approx(1 - p).margin(5 * std::sqrt(p * (1 - p) / 40000)));  // 5 standard errors
    CHECK(sum == Approx(kept / (1 - p)).epsilon(1e-6));
  }
}

TEST_CASE("a seeded dropout that does not fit is an error") {
  const Tensor x = uniform({3, 5}, -1, 1);
  CHECK(error_of("SeededDropout", {x, keys()}, dropout(0, 0.5f)).find("no equal parts") != std::string::npos);
  CHECK(error_of("SeededDropout", {x, keys()}, dropout(-1, 1)).find("ratio") != std::string::npos);
  CHECK(error_of("SeededDropout", {x, uniform({3}, 0, 1)}, dropout(-1, 0.5f)).find("keys") != std::string::npos);
}

TEST_CASE("seeded numbers have the moments of what they are drawn from") {
  constexpr double kCount = 40000;
  const Tensor x = Tensor::zeros(DType::kF64, {200, 200});
  const auto moments = [&](const char* op, int node, int64_t key) {
    const Type type = Type::tensor(DType::kF64, x.dims());
    const OpOptions options{.attrs = {attr("node", node), {"type0", type, {}}}, .domain = "mlopt"};
    double sum = 0, squares = 0;
    for (const double y : to_doubles(run_op(op, {x, Tensor::ints({3, key})}, options))) sum += y, squares += y * y;
    return std::pair{sum / kCount, squares / kCount};
  };
  const double error = 5 / std::sqrt(kCount);  // 5 standard errors of what has a variance of 1
  const auto [mean, square] = moments("SeededNormal", 1, 7);
  CHECK(mean == Approx(0).margin(error));
  CHECK(square == Approx(1).margin(std::sqrt(2) * error));
  const auto [middle, spread] = moments("SeededUniform", 1, 7);
  CHECK(middle == Approx(0.5).margin(error * std::sqrt(1 / 12.0)));
  CHECK(spread == Approx(1 / 3.0).margin(error * std::sqrt(1 / 5.0 - 1 / 9.0)));
  CHECK(moments("SeededNormal", 1, 7) == moments("SeededNormal", 1, 7));
  CHECK(moments("SeededNormal", 2, 7) != moments("SeededNormal", 1, 7));
  CHECK(moments("SeededNormal", 1, 8) != moments("SeededNormal", 1, 7));
}

}  // namespace
}  // namespace mlopt::test
