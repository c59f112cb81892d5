#include "quantize/methods.h"

#include <algorithm>
#include <cmath>

#include "core/base/rng.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

/// A layer of two groups whose inputs are correlated.
struct Layer {
  static constexpr int64_t kRows = 12, kColumns = 40, kGroups = 2;
  Matrix values = Matrix::zeros(kRows, kColumns);
  std::vector<Matrix> inputs;
  Observed seen;
  Scheme scheme;

  Layer() {
    Rng rng(5);
    for (float& x : values.values) x = static_cast<float>(rng.normal());
    seen.squares.resize(kGroups * kColumns);
    seen.products.assign(kGroups, std::vector<float>(kColumns * kColumns));
    for (int64_t g = 0; g < kGroups; ++g) {
      Matrix& rows = inputs.emplace_back(Matrix::zeros(300, kColumns));
      for (int64_t r = 0; r < rows.rows; ++r) {
        const double common = rng.normal();
        for (int64_t c = 0; c < kColumns; ++c)
          rows.at(r, c) = static_cast<float>((common + 0.5 * rng.normal()) * (c % 7 == 0 ? 4 : 1));
      }
      see(rows, g, seen);
    }
    scheme.bits = 3;
    scheme.group = 16;
  }

  Coded encoded(const char* method) const { return encode(find_method(method), {values, scheme, &seen, kGroups}); }

  /// The squared error of the layer's outputs on the inputs.
  double error(const Coded& coded) const {
    const Matrix got = decode(coded);
    double sum = 0;
    for (int64_t r = 0; r < kRows; ++r) {
      const Matrix& x = inputs[static_cast<size_t>(r / (kRows / kGroups))];
      for (int64_t n = 0; n < x.rows; ++n) {
        double off = 0;
        for (int64_t c = 0; c < kColumns; ++c)
          off += static_cast<double>(x.at(n, c)) *
                 (static_cast<double>(got.at(r, c)) - static_cast<double>(values.at(r, c)));
        sum += off * off;
      }
    }
    return sum;
  }
};

/// What the first group is given, with a column that is 30 times as large.
std::vector<Observed> with_a_large_column(Layer& layer) {
  std::vector<Observed> seen(1);
  seen[0].squares.resize(Layer::kColumns);
  seen[0].products.assign(1, std::vector<float>(Layer::kColumns * Layer::kColumns));
  Matrix& inputs = layer.inputs[0];
  for (int64_t r = 0; r < inputs.rows; ++r) inputs.at(r, 5) *= 30;
  see(inputs, 0, seen[0]);
  return seen;
}

}  // namespace

TEST_CASE("columns that make up for others leave much less error in the outputs") {
  const Layer layer;
  const double nearest = layer.error(layer.encoded("rtn"));
  CHECK(layer.error(layer.encoded("mse")) < nearest);
  CHECK(layer.error(layer.encoded("gptq")) < 0.5 * nearest);
  CHECK(layer.error(layer.encoded("quantease")) < 0.95 * layer.error(layer.encoded("gptq")));
  CHECK(layer.error(layer.encoded("adaround")) < 0.5 * nearest);
}

TEST_CASE("a weight whose inputs were not seen is rounded to nearest by every method") {
  const Layer layer;
  const Observed squares_only{300, layer.seen.squares, {}, {}};
  for (const Method& method : methods()) {
    const Coded plain = encode(method, {layer.values, layer.scheme});
    CHECK(plain.codes == round_to_nearest({layer.values, layer.scheme}, method.fit).codes);
    if (method.look == Look::kProducts)
      CHECK_NOTHROW(encode(method, {layer.values, layer.scheme, &squares_only, Layer::kGroups}));
  }
}

TEST_CASE("a weight whose inputs are all zeros, tiny or huge has the codes that it has without data") {
  const Layer layer;
  for (const auto& [levels, bits] : {std::pair(Levels::kUniform, 3), {Levels::kCodebook, 3}, {Levels::kTable, 2}})
    for (const bool per_tensor : {false, true}) {
      const std::vector<float> table =
          levels == Levels::kTable ? std::vector<float>{-1, 0, 1, 1} : std::vector<float>{};
      const Scheme scheme{levels, bits, false, 16, per_tensor, table};
      const Coded plain = encode(find_method("mse"), {layer.values, scheme});
      for (const double square : {0.0, 1e-43, 1e43}) {
        const Observed seen{300, std::vector<double>(Layer::kGroups * Layer::kColumns, square), {}, {}};
        const Coded coded = encode(find_method("mse"), {layer.values, scheme, &seen, Layer::kGroups});
        CHECK(coded.codes == plain.codes);
        CHECK(coded.scale == plain.scale);
        CHECK(coded.table == plain.table);
      }
    }
}

TEST_CASE("where inputs are not correlated nothing can be made up for") {
  Layer layer;
  for (SharedSums& sums : layer.seen.products) {
    std::vector<float>& products = sums.own();
    for (int64_t i = 0; i < Layer::kColumns; ++i)
      for (int64_t j = 0; j < Layer::kColumns; ++j)
        if (i != j) products[static_cast<size_t>(i * Layer::kColumns + j)] = 0;
  }
  CHECK(layer.encoded("gptq").codes == layer.encoded("mse").codes);
}

TEST_CASE("every method gives codes of every scheme, also of inputs that are never there") {
  Layer layer;
  for (SharedSums& sums : layer.seen.products) {
    std::vector<float>& products = sums.own();
    for (int64_t i = 0; i < Layer::kColumns; ++i)
      products[static_cast<size_t>(3 * Layer::kColumns + i)] = products[static_cast<size_t>(i * Layer::kColumns + 3)] =
          0;
  }
  const std::vector<float> table = {-1, -0.5f, -0.25f, 0, 0.125f, 0.25f, 0.5f, 1};
  for (const Method& method : methods())
    for (const Levels levels : {Levels::kUniform, Levels::kTable, Levels::kCodebook})
      for (const bool per_tensor : {false, true}) {
        layer.scheme = {levels, 3, false, 16, per_tensor, levels == Levels::kTable ? table : std::vector<float>()};
        const Coded coded = layer.encoded(std::string(method.name).c_str());
        CHECK(*std::max_element(coded.codes.begin(), coded.codes.end()) < 8);
        CHECK(std::isfinite(layer.error(coded)));
        CHECK(std::count(coded.codes.begin(), coded.codes.end(), coded.codes[0]) < Layer::kRows * Layer::kColumns / 2);
      }
}

TEST_CASE("scales of columns with large inputs leave less error in the outputs") {
  Model model = test::fixture("g (float[N,40] x, float[40,24] V) => (float[N,24] y) { y = MatMul (x, V) }");
  infer(model, standard_types);
  const std::vector<Weight> weights = find_weights(model).weights;
  Layer layer;
  std::vector<Observed> seen = with_a_large_column(layer);
  const Matrix& inputs = layer.inputs[0];
  layer.scheme.bits = 4;
  const auto error = [&](const std::vector<float>& scale) {
    const Matrix values = load(weights[0]);  // the scale is in them already
    const Matrix rounded = decode(encode(find_method("rtn"), {values, layer.scheme}));
    double sum = 0;
    for (int64_t r = 0; r < values.rows; ++r)
      for (int64_t n = 0; n < inputs.rows; ++n) {
        double off = 0;
        for (int64_t c = 0; c < values.columns; ++c)
          off += static_cast<double>(inputs.at(n, c) / scale[static_cast<size_t>(c)] *
                                     (rounded.at(r, c) - values.at(r, c)));
        sum += off * off;
      }
    return sum;
  };
  const Matrix before = load(weights[0]);
  const double plain = error(std::vector<float>(Layer::kColumns, 1));
  CHECK(awq_scales(weights, seen, std::vector{parse_spec("w4g16")}) == 1);
  std::vector<float> scale;
  for (int64_t c = 0; c < Layer::kColumns; ++c) scale.push_back(load(weights[0]).at(0, c) / before.at(0, c));
  CHECK(scale[5] > 1.2f * scale[4]);
  CHECK(error(scale) < 0.75 * plain);
  CHECK(model.graph->node_count() == 2);
}

TEST_CASE("scales of columns are tried with the codes that the format has") {
  for (const auto& [spec, scaled] : {std::pair("ternary", 1), {"codebook4v2", 1}, {"codebook8v4", 0}}) {
    INFO(spec);
    Model model = test::fixture("g (float[N,40] x, float[40,24] V) => (float[N,24] y) { y = MatMul (x, V) }");
    infer(model, standard_types);
    const std::vector<Weight> weights = find_weights(model).weights;
    Layer layer;
    std::vector<Observed> seen = with_a_large_column(layer);
    CHECK(awq_scales(weights, seen, std::vector{parse_spec(spec)}) == scaled);
  }
}

TEST_CASE("peaks of activations go into the weights, as far as the noise of rounding both is least") {
  Model model = test::fixture(R"(g (float[N,40] x, float[40] G, float[40,24] V) => (float[N,24] y) {
    n = LayerNormalization (x, G)
    y = MatMul (n, V)
  })");
  infer(model, standard_types);
  const std::vector<Weight> weights = find_weights(model).weights;
  Layer layer;
  Matrix& inputs = layer.inputs[0];
  for (int64_t r = 0; r < inputs.rows; ++r) inputs.at(r, 5) *= 50;
  const auto observed = [&] {
    std::vector<Observed> seen(1);
    seen[0].squares.resize(Layer::kColumns);
    seen[0].peaks.resize(Layer::kColumns);
    see(inputs, 0, seen[0]);
    return seen;
  };
  std::vector<Observed> seen = observed();
  for (int64_t c = 0; c < Layer::kColumns; ++c) {
    float peak = 0;
    for (int64_t r = 0; r < inputs.rows; ++r) peak = std::max(peak, std::fabs(inputs.at(r, c)));
    REQUIRE(seen[0].peaks[static_cast<size_t>(c)] == peak);
  }
  const Matrix before = load(weights[0]);
  const std::vector<float> gain = to_floats(*model.graph->find("G")->constant);
  CHECK(smoothquant_scales(weights, seen, std::vector{parse_spec("w8a8")}) == 1);
  std::vector<double> scale;
  const Matrix after = load(weights[0]);
  const std::vector<float> now = to_floats(*model.graph->nodes()[0]->input(1)->constant);
  for (int64_t c = 0; c < Layer::kColumns; ++c) {
    scale.push_back(static_cast<double>(after.at(0, c)) / static_cast<double>(before.at(0, c)));
    CHECK(static_cast<double>(now[static_cast<size_t>(c)]) ==
          Approx(static_cast<double>(gain[static_cast<size_t>(c)]) / scale.back()).epsilon(1e-5));
  }
  CHECK(scale[5] > 4 * scale[4]);
  // What integers of 8 bits on both sides give, by definition.
  const auto error = [&](const std::vector<double>& s) {
    double peak = 0, sum = 0;
    for (int64_t n = 0; n < inputs.rows; ++n)
      for (size_t c = 0; c < s.size(); ++c)
        peak = std::max(peak, std::fabs(static_cast<double>(inputs.at(n, static_cast<int64_t>(c)))) / s[c]);
    for (int64_t r = 0; r < before.rows; ++r) {
      double most = 0;
      for (size_t c = 0; c < s.size(); ++c)
        most = std::max(most, std::fabs(static_cast<double>(before.at(r, static_cast<int64_t>(c)))) * s[c]);
      for (int64_t n = 0; n < inputs.rows; ++n) {
        double off = 0;
        for (size_t c = 0; c < s.size(); ++c) {
          const auto at = static_cast<int64_t>(c);
          const double x = static_cast<double>(inputs.at(n, at)), w = static_cast<double>(before.at(r, at));
          off += std::nearbyint(x / s[c] / (peak / 127)) * (peak / 127) * std::nearbyint(w * s[c] / (most / 127)) *
                     (most / 127) -
                 x * w;
        }
        sum += off * off;
      }
    }
    return sum;
  };
  CHECK(error(scale) < 0.5 * error(std::vector<double>(Layer::kColumns, 1)));
  CHECK(model.graph->node_count() == 2);
  CHECK(seen[0].peaks[5] == Approx(static_cast<double>(observed()[0].peaks[5]) / scale[5]));
}

TEST_CASE("a method that there is not is named with the nearest that there is") {
  CHECK_THROWS_AS(find_method("gptk"), Error);
}
