#include "core/calib/observe.h"

#include <cmath>

#include "backends/reference/backend.h"
#include "core/base/error.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

struct Setup {
  Model model = test::fixture(R"(g (float[N,3] x, float[3,4] V, float[4,2] W) => (float[N,2] y) {
    a = MatMul (x, V)
    b = Relu (a)
    y = MatMul (b, W)
  })");
  Tensor x = test::uniform({6, 3}, -1, 1);
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};

  std::vector<Observed> run(bool products, int64_t samples = 128, const Model* original = nullptr) const {
    const test::MemoryData data(x, std::nullopt);
    return observe(model, find_weights(model).weights, {products, original}, {&runner, &data, samples});
  }
};

}  // namespace

TEST_CASE("sums over the data are those of what layers are given") {
  const Setup s;
  const auto seen = s.run(true);
  REQUIRE(seen.size() == 2);
  const std::vector<float> x = to_floats(s.x);
  CHECK(seen[0].rows == 6);
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) {
      double sum = 0;
      for (size_t n = 0; n < 6; ++n) sum += static_cast<double>(x[n * 3 + i]) * x[n * 3 + j];
      CHECK(seen[0].products[0][i * 3 + j] == Approx(sum).margin(1e-5));
      if (i == j) CHECK(seen[0].squares[i] == Approx(sum).margin(1e-5));
    }
  const std::vector<float> v = to_floats(*s.model.graph->find("V")->constant);
  for (size_t c = 0; c < 4; ++c) {
    double squares = 0;
    for (size_t n = 0; n < 6; ++n) {
      double sum = 0;
      for (size_t i = 0; i < 3; ++i) sum += static_cast<double>(x[n * 3 + i]) * v[i * 4 + c];
      squares += sum > 0 ? sum * sum : 0;
    }
    CHECK(seen[1].squares[c] == Approx(squares).epsilon(1e-5));
  }
}

TEST_CASE("what the original gives is multiplied by what the model gives") {
  const Setup s;
  Model original = clone(s.model);
  Tensor& changed = *original.graph->find("V")->constant;
  for (int64_t i = 0; i < changed.size(); ++i) changed.mutable_data<float>()[i] *= i % 2 ? -1.5F : 0.5F;
  const auto seen = s.run(true, 128, &original);
  const auto hidden = [&](const Model& m) {
    const std::vector<float> x = to_floats(s.x), v = to_floats(*m.graph->find("V")->constant);
    std::vector<double> h(24);
    for (size_t n = 0; n < 6; ++n)
      for (size_t c = 0; c < 4; ++c) {
        double sum = 0;
        for (size_t i = 0; i < 3; ++i) sum += static_cast<double>(x[n * 3 + i]) * v[i * 4 + c];
        h[n * 4 + c] = std::max(sum, 0.0);
      }
    return h;
  };
  const auto before = hidden(original), now = hidden(s.model);
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j) {
      double sum = 0;
      for (size_t n = 0; n < 6; ++n) sum += before[n * 4 + i] * now[n * 4 + j];
      CHECK(seen[1].crossed[0][i * 4 + j] == Approx(sum).margin(1e-5));
    }
  CHECK(seen[0].crossed[0] == seen[0].products[0]);
}

TEST_CASE("only as many samples are looked at as are asked for, and only what is asked for is kept") {
  const Setup s;
  const auto seen = s.run(false, 2);
  CHECK(seen[0].rows == 2);
  CHECK(seen[0].products.empty());
}

TEST_CASE("numbers that are not finite are refused with their sample") {
  Setup s;
  s.x.mutable_data<float>()[4 * 3 + 1] = NAN;
  const std::string said = test::error_of([&] { s.run(false); });
  CHECK(test::contains(said, "not finite"));
  CHECK(test::contains(said, "sample 4"));
}

TEST_CASE("products of many columns are whole, and as they are by definition") {
  const Tensor x = test::uniform({50, 150}, -1, 1);
  Matrix rows{50, 150, to_floats(x)}, others{50, 150, to_floats(test::uniform({50, 150}, -1, 1, DType::kF32, 9))};
  Observed seen;
  seen.squares.resize(150);
  seen.products.assign(1, std::vector<float>(150 * 150));
  seen.crossed = seen.products;
  for (int twice = 0; twice < 2; ++twice) see(rows, 0, seen, &others);
  for (int64_t i = 0; i < 150; i += 7)
    for (int64_t j = 0; j < 150; ++j) {
      double products = 0, crossed = 0;
      for (int64_t n = 0; n < 50; ++n) {
        products += 2 * static_cast<double>(rows.at(n, i)) * rows.at(n, j);
        crossed += 2 * static_cast<double>(others.at(n, i)) * rows.at(n, j);
      }
      REQUIRE(seen.products[0][static_cast<size_t>(i * 150 + j)] == Approx(products).margin(1e-4));
      REQUIRE(seen.crossed[0][static_cast<size_t>(i * 150 + j)] == Approx(crossed).margin(1e-4));
    }
}

namespace {

/// Two blocks with shortcuts; V and W read the same.
struct Blocks {
  Model model = test::fixture(R"(g (float[N,6] x, float[6,8] U, float[8,6] D, float[6,8] V, float[6,8] W, float[8,6] E)
                                     => (float[N,6] y) {
    u = MatMul (x, U)
    r = Relu (u)
    d = MatMul (r, D)
    a = Add (d, x)
    t = Tanh (a)
    v = MatMul (t, V)
    w = MatMul (t, W)
    g = Mul (v, w)
    e = MatMul (g, E)
    y = Add (e, a)
  })");
  test::MemoryData data{test::uniform({9, 6}, -1, 1), std::nullopt};
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};

  Looking looking(int64_t part_bytes) const { return {&runner, &data, 128, {}, part_bytes}; }

  /// Each weight observed when all before it are changed, as methods do that go from layer to layer.
  std::vector<Observed> one_after_the_other(int64_t part_bytes, OnTheWay* way, bool with_original) const {
    Model changed = clone(model);
    const std::vector<Weight> weights = find_weights(changed).weights;
    std::vector<Observed> all;
    for (const Weight& w : weights) {
      if (way) way->next = {w.name()};
      const Watch watch{.products = true, .original = with_original ? &model : nullptr};
      all.push_back(observe(changed, {&w, 1}, watch, looking(part_bytes), way)[0]);
      Matrix values = load(w);
      for (size_t i = 0; i < values.values.size(); i += 2) values.values[i] *= 0.5F;
      store(w, values);
    }
    return all;
  }
};

void require_same(const std::vector<Observed>& found, const std::vector<Observed>& expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].rows == expected[i].rows);
    CHECK(found[i].squares == expected[i].squares);
    CHECK(found[i].peaks == expected[i].peaks);
    CHECK(found[i].products == expected[i].products);
    CHECK(found[i].crossed == expected[i].crossed);
  }
}

}  // namespace

TEST_CASE("how much of the model is in memory at once changes no bit of what is observed") {
  const Blocks b;
  const auto weights = find_weights(b.model).weights;
  Model original = clone(b.model);
  store(find_weights(original).weights[0], Matrix::zeros(8, 6));
  for (const Model* before : {static_cast<const Model*>(nullptr), static_cast<const Model*>(&original)}) {
    const Watch watch{.products = true, .original = before};
    const auto whole = observe(b.model, weights, watch, b.looking(1 << 20));
    CHECK(whole[4].squares[0] > 0);
    for (const int64_t bytes : {1, 200, 400}) require_same(observe(b.model, weights, watch, b.looking(bytes)), whole);
  }
}

TEST_CASE("going on from the place of the last change gives what running from the front gives, to the bit") {
  const Blocks b;
  for (const bool with_original : {false, true}) {
    const auto anew = b.one_after_the_other(1 << 20, nullptr, with_original);
    CHECK_FALSE(anew[4].products ==
                observe(b.model, find_weights(b.model).weights, {.products = true}, b.looking(1))[4].products);
    OnTheWay way;
    require_same(b.one_after_the_other(1, &way, with_original), anew);
    CHECK(way.model.names == std::vector<std::string>{"g", "a"});  // in front of the last weight's reader
    CHECK(way.model.batches.size() == 9);
    CHECK(way.original.batches.size() == (with_original ? 9 : 0));
    OnTheWay unused;  // one part holds the model
    require_same(b.one_after_the_other(1 << 20, &unused, with_original), anew);
    CHECK(unused.model.batches.empty());
  }
}

TEST_CASE("weights that are multiplied by the same have their products once") {
  const Blocks b;
  const auto seen = observe(b.model, find_weights(b.model).weights, {.products = true}, b.looking(1 << 20));
  CHECK(seen[2].products[0].shares_with(seen[3].products[0]));
  CHECK(seen[2].squares == seen[3].squares);
  CHECK_FALSE(seen[1].products[0].shares_with(seen[2].products[0]));
}
