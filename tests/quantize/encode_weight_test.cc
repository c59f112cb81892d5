#include "quantize/encode_weight.h"

#include <cmath>

#include "core/onnx/infer.h"
#include "quantize/weight_format.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

/// A weight of so many rows that it is encoded in several parts, and its layout is not that of the matrix.
struct Setup {
  Model model = test::fixture("g (float[N,700] x, float[700,900] V) => (float[N,900] y) { y = MatMul (x, V) }");
  Weight weight;

  Setup() {
    infer(model, standard_types);
    weight = find_weights(model).weights.at(0);
  }
};

}  // namespace

TEST_CASE("a weight in parts has the codes of the whole") {
  const Setup s;
  const Matrix values = load(s.weight);
  for (const Levels levels : {Levels::kUniform, Levels::kCodebook}) {
    Scheme scheme;
    scheme.levels = levels;
    scheme.group = levels == Levels::kUniform ? 32 : 0;
    const Method& method = find_method("rtn");
    const EncodedWeight made = encode_weight(s.weight, method, scheme, nullptr, false);
    const Coded whole = encode(method, {values, scheme});
    CHECK(made.coded.codes == whole.codes);
    CHECK(made.coded.scale == whole.scale);
    CHECK(made.coded.zero == whole.zero);
    CHECK(made.coded.table == whole.table);
    double signal = 0, noise = 0;
    const Matrix got = decode(whole);
    for (size_t i = 0; i < values.values.size(); ++i) {
      const auto x = static_cast<double>(values.values[i]), off = x - static_cast<double>(got.values[i]);
      signal += x * x, noise += off * off;
    }
    CHECK(made.sqnr_db == Approx(10 * std::log10(signal / noise)).margin(0.01));
  }
}

TEST_CASE("rows of a weight are those of the whole matrix") {
  const Setup s;
  const Matrix whole = load(s.weight), some = load(s.weight, 37, 21);
  CHECK(some.rows == 21);
  for (int64_t r = 0; r < some.rows; ++r)
    for (int64_t c = 0; c < some.columns; c += 13) CHECK(some.at(r, c) == whole.at(37 + r, c));
}

TEST_CASE("what is stored exactly has no noise") {
  const Setup s;
  Matrix values = load(s.weight);
  for (size_t i = 0; i < values.values.size(); ++i) values.values[i] = 7 * (static_cast<float>(i % 3) - 1);
  store(s.weight, values);
  Scheme scheme;
  scheme.symmetric = true;
  CHECK(std::isinf(encode_weight(s.weight, find_method("rtn"), scheme, nullptr, false).sqnr_db));
}

TEST_CASE("numbers whose squares no float holds have the noise that they have") {
  Setup s;
  const Matrix numbers = load(s.weight);
  Scheme scheme;
  const double usual = encode_weight(s.weight, find_method("rtn"), scheme, nullptr, false).sqnr_db;
  for (const float factor : {1e-25f, 1e25f}) {
    Matrix values = numbers;
    for (float& x : values.values) x *= factor;
    store(s.weight, values);
    CHECK(encode_weight(s.weight, find_method("rtn"), scheme, nullptr, false).sqnr_db == Approx(usual).margin(0.01));
  }
}

TEST_CASE("what lies outside of the codes' reach is counted") {
  const Setup s;
  Matrix values = load(s.weight);
  for (size_t i = 0; i < values.values.size(); ++i)
    values.values[i] = (static_cast<float>(i % 100) - 20) / 100;  // -0.2 to 0.79, evenly
  store(s.weight, values);
  Scheme scheme;
  scheme.bits = 8;
  scheme.group = 100;
  const EncodedWeight whole = encode_weight(s.weight, find_method("rtn"), scheme, nullptr, false);
  CHECK(whole.coverage.low == -0.2f);
  CHECK(whole.coverage.high == 0.79f);
  CHECK(whole.coverage.clipped == 0);

  // The same codes with steps of half the size reach from -0.1 to 0.395; 10 and 39 of 100 numbers are further off.
  Coded half = whole.coded;
  for (float& scale : half.scale) scale /= 2;
  const EncodedWeight clipped = with_sqnr(s.weight, half);
  CHECK(clipped.coverage.clipped == Approx(0.49).margin(0.011));
  CHECK(clipped.coverage.high == 0.79f);
}

TEST_CASE("tables that repeat their ends clip from half a step behind these on") {
  const Setup s;
  Matrix values = load(s.weight);
  for (size_t i = 0; i < values.values.size(); ++i) values.values[i] = i % 4 == 0 ? 1.6f : 0.5f;
  store(s.weight, values);
  Coded coded(scheme_of(*parse_weight_format("ternary"), false, false), s.weight.rows, s.weight.columns);
  CHECK(with_sqnr(s.weight, coded).coverage.clipped == Approx(0.25));
  for (float& scale : coded.scale) scale = 1.2f;
  CHECK(with_sqnr(s.weight, coded).coverage.clipped == 0);
}
