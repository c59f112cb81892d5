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
