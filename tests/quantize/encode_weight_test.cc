#include "quantize/encode_weight.h"

#include <cmath>

#include "core/onnx/infer.h"
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
