#include "quantize/kept_numbers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/onnx/infer.h"
#include "quantize/encode_weight.h"
#include "quantize/methods.h"
#include "quantize/spec.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

/// A weight of several parts whose layout is not that of the matrix, about even but for each 250th number, which is 30
/// times as large.
struct Setup {
  Model model = test::fixture("g (float[N,700] x, float[700,900] V) => (float[N,900] y) { y = MatMul (x, V) }");
  Weight weight;
  Matrix values;

  Setup() {
    infer(model, standard_types);
    weight = find_weights(model).weights.at(0);
    values = load(weight);
    for (size_t i = 0; i < values.values.size(); ++i)
      values.values[i] = (values.values[i] - 1) * (i % 250 == 100 ? 30.0f : 1.0f);
    store(weight, values);
  }

  /// Places of the `count` numbers whose magnitudes, each times that of its column, are largest.
  std::vector<int64_t> largest(int64_t count, const std::vector<double>& columns) const {
    std::vector<int64_t> order(values.values.size());
    std::iota(order.begin(), order.end(), 0);
    const auto size = [&](int64_t i) {
      return std::fabs(static_cast<double>(values.values[static_cast<size_t>(i)])) *
             columns[static_cast<size_t>(i % values.columns)];
    };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return size(a) > size(b); });
    order.resize(static_cast<size_t>(count));
    std::sort(order.begin(), order.end());
    return order;
  }
};

}  // namespace

TEST_CASE("the largest numbers of a weight are found in all of its parts") {
  const Setup s;
  const Kept kept = largest_numbers(s.weight, 0.003, nullptr);
  CHECK(kept.at == s.largest(1890, std::vector<double>(700, 1)));
  for (size_t i = 0; i < kept.at.size(); ++i)
    CHECK(kept.numbers[i] == s.values.values[static_cast<size_t>(kept.at[i])]);
}

TEST_CASE("numbers count by what they are multiplied by") {
  const Setup s;
  Observed seen;
  std::vector<double> sizes;
  for (int c = 0; c < 700; ++c) {
    sizes.push_back(c % 7 == 3 ? 16 : 1);
    seen.squares.push_back(sizes.back() * sizes.back());
  }
  CHECK(largest_numbers(s.weight, 0.003, &seen).at == s.largest(1890, sizes));
}

TEST_CASE("of equal numbers the first are chosen, and zeros never") {
  Setup s;
  for (float& x : s.values.values) x = 0;
  for (const size_t at : {5, 90, 300'000, 600'000}) s.values.values[at] = at == 90 ? -1.0f : 1.0f;
  store(s.weight, s.values);
  CHECK(largest_numbers(s.weight, 3.0 / 630'000, nullptr).at == std::vector<int64_t>{5, 90, 300'000});
  CHECK(largest_numbers(s.weight, 0.5, nullptr).at == std::vector<int64_t>{5, 90, 300'000, 600'000});
  CHECK(largest_numbers(s.weight, 1e-9, nullptr).at.empty());
}

TEST_CASE("rows lose the numbers that are theirs") {
  Matrix rows = Matrix::zeros(2, 3);
  for (size_t i = 0; i < 6; ++i) rows.values[i] = static_cast<float>(i + 1);
  take_out({{2, 6, 10, 11, 12}, {9, 9, 9, 9, 9}}, 2, rows);  // of rows 2 and 3 the places are 6 to 11
  CHECK(rows.values == std::vector<float>{0, 2, 3, 4, 0, 0});
}

TEST_CASE("what stretches the range is stored as it is, and all else in smaller steps") {
  const Setup s;
  for (const char* format : {"w3", "w4g32", "codebook3", "nf4", "w4:per_tensor"}) {
    INFO(format);
    Scheme scheme = parse_spec(format).scheme();
    const EncodedWeight plain = encode_weight(s.weight, find_method("rtn"), scheme, nullptr, false);
    scheme.kept = 0.005;
    const EncodedWeight made = encode_weight(s.weight, find_method("rtn"), scheme, nullptr, false);
    CHECK(made.sqnr_db > plain.sqnr_db + 2);
    const Matrix decoded = decode(made.coded);
    double signal = 0, noise = 0;
    for (size_t i = 0; i < decoded.values.size(); ++i) {
      const auto x = static_cast<double>(s.values.values[i]), off = x - static_cast<double>(decoded.values[i]);
      signal += x * x, noise += off * off;
    }
    CHECK(made.sqnr_db == Approx(10 * std::log10(signal / noise)).margin(0.1));
    for (const int64_t at : s.largest(3150, std::vector<double>(700, 1)))
      if (decoded.values[static_cast<size_t>(at)] != s.values.values[static_cast<size_t>(at)]) FAIL_CHECK(at);
  }
}
