#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/rng.h"
#include "quantize/methods.h"
#include "tests/support/catch.h"
#include "tests/support/random_layer.h"

namespace mlopt::quantize {

TEST_CASE("adaptive rounding gives each number one of its two neighbours, and finds the best of all that there are") {
  // One row of ten numbers: all 1024 ways to round it can be tried.
  constexpr int64_t kColumns = 10;
  Rng rng(3);
  Matrix values = Matrix::zeros(1, kColumns), inputs = Matrix::zeros(60, kColumns);
  for (float& x : values.values) x = static_cast<float>(rng.normal());
  for (int64_t r = 0; r < inputs.rows; ++r) {
    const double common = 2 * rng.normal();
    for (int64_t c = 0; c < kColumns; ++c) inputs.at(r, c) = static_cast<float>(common + rng.normal());
  }
  Observed seen;
  seen.squares.resize(kColumns);
  seen.products.assign(1, std::vector<float>(kColumns * kColumns));
  see(inputs, 0, seen);
  const std::vector<float> steps = {0.7F};
  Scheme scheme;
  scheme.bits = 4;
  scheme.symmetric = true;
  const Coded coded = encode(find_method("adaround"), {values, scheme, &seen, 1, false, steps});
  const auto error = [&](const std::vector<double>& rounded) {
    double sum = 0;
    for (int64_t n = 0; n < inputs.rows; ++n) {
      double off = 0;
      for (int64_t c = 0; c < kColumns; ++c)
        off += static_cast<double>(inputs.at(n, c)) *
               (rounded[static_cast<size_t>(c)] - static_cast<double>(values.at(0, c)));
      sum += off * off;
    }
    return sum;
  };
  double best = 1e30;
  for (int bits = 0; bits < 1 << kColumns; ++bits) {
    std::vector<double> rounded;
    for (int64_t c = 0; c < kColumns; ++c)
      rounded.push_back((std::floor(static_cast<double>(values.at(0, c)) / 0.7) + (bits >> c & 1)) * 0.7);
    best = std::min(best, error(rounded));
  }
  std::vector<double> chosen, nearest;
  for (int64_t c = 0; c < kColumns; ++c) {
    const double x = static_cast<double>(values.at(0, c));
    chosen.push_back((coded.codes[static_cast<size_t>(c)] - 8) * 0.7);
    nearest.push_back(std::nearbyint(x / 0.7) * 0.7);
    CHECK(std::fabs(chosen.back() - x) < 0.7);
  }
  CHECK(error(chosen) < 1.5 * best);
  CHECK(error(nearest) > 3 * best);
}

TEST_CASE("no number is better off at the other of its two neighbours") {
  const test::RandomLayer layer(6, 64);
  const std::vector<float> steps = {0.4F};
  Scheme scheme;
  scheme.bits = 4;
  scheme.symmetric = true;
  const Coded coded = encode(find_method("adaround"), {layer.values, scheme, &layer.seen, 1, false, steps});
  const float* products = layer.seen.products[0].data();
  for (int64_t r = 0; r < 6; ++r) {
    std::vector<double> off;
    for (int64_t c = 0; c < 64; ++c)
      off.push_back((coded.codes[static_cast<size_t>(r * 64 + c)] - 8) * 0.4 - layer.values.at(r, c));
    for (int64_t c = 0; c < 64; ++c) {
      if (std::fabs(off[static_cast<size_t>(c)]) > 0.4) continue;  // clipped
      const double move = off[static_cast<size_t>(c)] > 0 ? -0.4 : 0.4, own = products[c * 64 + c];
      const int code = coded.codes[static_cast<size_t>(r * 64 + c)] + (move > 0 ? 1 : -1);
      if (code < 0 || code > 15) continue;
      double slope = 0;
      for (int64_t k = 0; k < 64; ++k) slope += off[static_cast<size_t>(k)] * products[c * 64 + k];
      CHECK(2 * move * slope + move * move * own > -1e-3 * move * move * own);
    }
  }
}

TEST_CASE("of layers with very many columns some are learned at a time, and those behind make up for their error") {
  constexpr int64_t kColumns = 1040, kRows = 6;
  Rng rng(7);
  Matrix values = Matrix::zeros(kRows, kColumns), inputs = Matrix::zeros(48, kColumns);
  for (float& x : values.values) x = static_cast<float>(rng.normal());
  values.values[5] = std::numeric_limits<float>::quiet_NaN();
  for (int64_t n = 0; n < inputs.rows; ++n) {
    const double common = rng.normal();
    for (float& x : inputs.row(n)) x = static_cast<float>(common + 0.5 * rng.normal());
  }
  Observed seen;
  seen.squares.resize(kColumns);
  seen.products.assign(1, std::vector<float>(kColumns * kColumns));
  see(inputs, 0, seen);
  Scheme scheme;
  scheme.bits = 3;
  const auto error = [&](const char* method) {
    const Matrix got = decode(encode(find_method(method), {values, scheme, &seen, 1}));
    double sum = 0;
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t n = 0; n < inputs.rows; ++n) {
        double off = 0;
        for (int64_t c = 0; c < kColumns; ++c)
          if (std::isfinite(values.at(r, c)))
            off += static_cast<double>(inputs.at(n, c)) *
                   (static_cast<double>(got.at(r, c)) - static_cast<double>(values.at(r, c)));
        sum += off * off;
      }
    return sum;
  };
  // The last bits of the sums decide what gradient descent comes to: single rows differ by more than this bound says.
  CHECK(error("adaround") < 0.05 * error("mse"));
  CHECK(error("adaround") < 3 * error("gptq"));
}

}  // namespace mlopt::quantize
