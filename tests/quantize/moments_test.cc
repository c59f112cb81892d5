#include "quantize/moments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Mean and variance by the trapezoid rule.
std::pair<double, double> integrated(double mean, double variance, double low, double high) {
  const double deviation = std::sqrt(variance), step = 1e-3;
  double first = 0, second = 0;
  for (double z = -9; z < 9; z += step) {
    const double x = std::clamp(mean + deviation * z, low, high);
    const double weight = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) * step;
    first += weight * x;
    second += weight * x * x;
  }
  return {first, second - first * first};
}

}  // namespace

TEST_CASE("the moments of what Relu and Clip leave of a normal variable are its integrals") {
  for (const double mean : {-3.0, -0.2, 0.0, 1.5, 8.0})
    for (const double variance : {0.01, 1.0, 6.0})
      for (const auto& [low, high] : {std::pair{0.0, kInfinity}, {0.0, 6.0}, {-1.0, 1.0}, {-kInfinity, 2.0}}) {
        INFO(mean << ' ' << variance << ' ' << low << ' ' << high);
        const Moments cut = clipped({{mean}, {variance}}, low, high);
        const auto [first, second] = integrated(mean, variance, low, high);
        CHECK(std::fabs(cut.means[0] - first) < 1e-4);
        CHECK(std::fabs(cut.variances[0] - second) < 1e-3);
      }
  CHECK(clipped({{-2}, {0}}, 0, 6).means[0] == 0);
}

TEST_CASE("moments follow from BatchNormalization through sums, Relu, joins and means over places") {
  Model model = test::fixture(R"(
    g (float[N,2,4,4] x, float[2] S, float[2] B, float[2] M, float[2] R, float[2] T, float[2] C) => (float[N,4,1,1] y) {
      n = BatchNormalization (x, S, B, M, R)
      m = BatchNormalization (x, T, C, M, R)
      a = Add (n, m)
      r = Relu (a)
      j = Concat <axis = 1> (r, n)
      y = GlobalAveragePool (j)
      z = MaxPool <kernel_shape = [2, 2]> (r)
    })");
  const auto numbers = [&](const char* name) { return to_doubles(*model.graph->find(name)->constant); };
  const MomentsByName found = moments_of(model);
  const auto s = numbers("S"), b = numbers("B"), t = numbers("T"), c = numbers("C");
  CHECK(found.at("n").means == b);
  for (size_t k = 0; k < 2; ++k) {
    CHECK(found.at("a").means[k] == Approx(b[k] + c[k]));
    CHECK(found.at("a").variances[k] == Approx(s[k] * s[k] + t[k] * t[k]));
    CHECK(found.at("y").means[k] == Approx(clipped(found.at("a"), 0, kInfinity).means[k]));
    CHECK(found.at("y").means[k + 2] == Approx(b[k]));
  }
  CHECK_FALSE(found.contains("z"));  // the largest of several has another mean
  CHECK_FALSE(found.contains("x"));
}

TEST_CASE("what is known is where it begins, and channels that are divided have moments that are") {
  const Model model = test::fixture("g (float[N,2] x) => (float[N,2] y) { y = Relu (x) }");
  CHECK(moments_of(model).empty());
  CHECK(moments_of(model, {{"x", {{5, 6}, {0, 0}}}}).at("y").means == std::vector<double>{5, 6});
  Moments moments{{4, 9}, {16, 9}};
  divide(moments, {2, 3});
  CHECK(moments.means == std::vector<double>{2, 3});
  CHECK(moments.variances == std::vector<double>{4, 1});
  divide(moments, {1, 2, 3});
  CHECK(moments.means == std::vector<double>{2, 3});
}
