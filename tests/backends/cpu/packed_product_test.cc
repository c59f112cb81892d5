#include "backends/cpu/packed_product.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "tests/support/catch.h"
#include "tests/support/targets.h"

namespace mlopt::cpu {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kUntouched = 12345;

std::vector<float> numbers(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> one(-1, 1);
  std::vector<float> v(static_cast<size_t>(count));
  for (float& x : v) x = one(random);
  return v;
}

struct Case {
  int64_t m, n, k;
  int64_t outer = 1, inner = 1;  ///< batch; the right matrix is the same along the outer axis
  bool swap_a = false, swap_b = false, constant = true;
  float alpha = 1, beta = 1;
  bool addend = false, in_place = false, bias = false;  ///< in_place: the addend is c
  Fn activation = Fn::kNone;
  int threads = 1;
};

std::string describe(const Case& c) {
  return fmt::format(
      "{} x {} x {}, batch {} x {}, swaps {} {}, constant {}, alpha {} beta {}, addend {} {}, bias {}, fn "
      "{}, threads {}",
      c.m, c.k, c.n, c.outer, c.inner, c.swap_a, c.swap_b, c.constant, c.alpha, c.beta, c.addend, c.in_place, c.bias,
      static_cast<int>(c.activation), c.threads);
}

/// The operands of a case; rows of c and of the addend lie further apart than they are long.
struct Operands {
  explicit Operands(const Case& c)
      : a(numbers(c.outer * c.inner * c.m * c.k, 1)),
        b(numbers(c.inner * c.k * c.n, 2)),
        bias(numbers(c.n, 3)),
        addend(numbers(c.outer * c.inner * c.m * (c.n + 3), 4)) {}
  std::vector<float> a, b, bias, addend;
};

float at(const std::vector<float>& v, int64_t i) { return v[static_cast<size_t>(i)]; }

ProductShape shape_of(const Case& c) {
  return {
      c.m,
      c.n,
      c.k,
      {{c.outer, c.inner * c.m * c.k, 0, c.inner * c.m * (c.n + 3)}, {c.inner, c.m * c.k, c.k * c.n, c.m * (c.n + 3)}}};
}

std::vector<float> run(const Case& c, const Operands& o) {
  const MatrixView right = c.swap_b ? MatrixView{o.b.data(), 1, c.k} : MatrixView{o.b.data(), c.n, 1};
  const ProductPlan plan(shape_of(c), c.constant ? std::make_shared<PackedMatrix>(right, c.k, c.n) : nullptr,
                         c.threads);
  std::vector<float> out(o.addend.size(), kUntouched);
  if (c.in_place) out = o.addend;
  std::vector<float> space(plan.workspace_bytes() / sizeof(float), kNan);
  plan.run({.a = c.swap_a ? MatrixView{o.a.data(), 1, c.m} : MatrixView{o.a.data(), c.k, 1},
            .b = right,
            .c = out.data(),
            .c_stride = c.n + 3,
            .alpha = c.alpha,
            .beta = c.beta,
            .addend = c.in_place ? out.data()
                      : c.addend ? o.addend.data()
                                 : nullptr,
            .addend_stride = c.n + 3,
            .bias = c.bias ? o.bias.data() : nullptr,
            .activation = {c.activation, 0.5f, 0.25f}},
           reinterpret_cast<std::byte*>(space.data()));
  return out;
}

/// One element in double, before the activation, and the largest error that its sum may have.
std::pair<double, double> expected(const Case& c, const Operands& o, int64_t item, int64_t i, int64_t j) {
  double sum = 0, size = 1;
  const int64_t left = item * c.m * c.k, right = item % c.inner * c.k * c.n;
  for (int64_t k = 0; k < c.k; ++k) {
    const double x = at(o.a, left + (c.swap_a ? k * c.m + i : i * c.k + k)),
                 y = at(o.b, right + (c.swap_b ? j * c.k + k : k * c.n + j));
    sum += x * y;
    size += std::abs(x * y);
  }
  sum *= c.alpha;
  if (c.addend || c.in_place) sum += c.beta * at(o.addend, (item * c.m + i) * (c.n + 3) + j);
  if (c.bias) sum += at(o.bias, j);
  return {sum, 1e-6 * size * std::max(1.0f, std::abs(c.alpha))};  // 8 epsilon of the sum of magnitudes
}

void require_product(const Case& c) {
  INFO(describe(c));
  const Operands o(c);
  const std::vector<float> out = run(c, o);
  REQUIRE(run(c, o) == out);
  const Activation activation{c.activation, 0.5f, 0.25f};
  for (int64_t row = 0; row < c.outer * c.inner * c.m; ++row)
    for (int64_t j = 0; j < c.n + 3; ++j) {
      const float got = at(out, row * (c.n + 3) + j);
      if (j >= c.n) {
        REQUIRE(got == (c.in_place ? at(o.addend, row * (c.n + 3) + j) : kUntouched));
        continue;
      }
      const auto [sum, error] = expected(c, o, row / c.m, row % c.m, j);
      float want = static_cast<float>(sum);
      if (c.activation != Fn::kNone) apply_here(activation, &want, &want, 1);
      if (std::abs(got - want) > 2 * error + 1e-6) FAIL(row << " " << j << ": " << got << " for " << want);
    }
}

/// Sizes at and beside those of vectors, panels, tiles and blocks.
Case random_case(std::mt19937& random) {
  constexpr int64_t kSizes[] = {1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 24, 31, 32, 33, 47, 64, 65, 100};
  constexpr Fn kFns[] = {Fn::kNone,    Fn::kNone, Fn::kRelu,  Fn::kClip,      Fn::kGelu,       Fn::kGeluTanh,
                         Fn::kSigmoid, Fn::kTanh, Fn::kSwish, Fn::kHardSwish, Fn::kHardSigmoid};
  const auto pick = [&](const auto& from) { return from[random() % std::size(from)]; };
  const auto flip = [&] { return random() % 2 == 0; };
  Case c{.m = pick(kSizes), .n = pick(kSizes), .k = pick(kSizes)};
  if (random() % 8 == 0) c.k = 250 + static_cast<int64_t>(random() % 300);
  if (flip()) c.outer = 1 + static_cast<int64_t>(random() % 3);
  c.constant = flip();
  if (!c.constant && flip()) c.inner = 1 + static_cast<int64_t>(random() % 3);
  c.swap_a = flip();
  c.swap_b = flip();
  if (flip()) c.alpha = 0.5f;
  if (flip()) c.beta = -2;
  c.addend = flip();
  c.in_place = random() % 4 == 0;
  c.bias = flip();
  c.activation = pick(kFns);
  c.threads = 1 + static_cast<int>(random() % 3);
  return c;
}

}  // namespace

TEST_CASE("products of odd sizes, strides, batches and epilogues are those in double, on every instruction set") {
  for (const int64_t target : test::targets()) {
    const test::TargetScope scope(target);
    std::mt19937 random(7);
    for (int i = 0; i < 250; ++i) require_product(random_case(random));
  }
}

TEST_CASE(
    "products of several blocks of rows, of columns and of the inner axis are those in double, on every instruction "
    "set") {
  for (const int64_t target : test::targets()) {
    const test::TargetScope scope(target);
    for (const int threads : {1, 2, 5}) {
      require_product({.m = 401, .n = 300, .k = 70, .addend = true, .bias = true, .threads = threads});
      require_product(
          {.m = 211, .n = 21, .k = 777, .swap_b = true, .constant = false, .in_place = true, .threads = threads});
      require_product({.m = 20, .n = 530, .k = 1031, .activation = Fn::kRelu, .threads = threads});
      require_product({.m = 401, .n = 420, .k = 300, .beta = -2, .addend = true, .bias = true, .threads = threads});
      require_product({.m = 401, .n = 420, .k = 300, .in_place = true, .activation = Fn::kTanh, .threads = threads});
      require_product(
          {.m = 45, .n = 530, .k = 1031, .alpha = 0.5f, .in_place = true, .activation = Fn::kGelu, .threads = threads});
      require_product({.m = 1, .n = 530, .k = 1031, .bias = true, .activation = Fn::kTanh, .threads = threads});
      require_product(
          {.m = 70, .n = 65, .k = 129, .outer = 3, .inner = 2, .swap_a = true, .constant = false, .threads = threads});
    }
  }
}

TEST_CASE("an inner axis in pieces is summed over all of them, on every instruction set") {
  // Windows of 3 x 4 over rows of 29 numbers, of which each step moves by 2; see ProductShape::pieces.
  constexpr int64_t kRows = 13, kColumns = 45, kPieces = 3, kPiece = 4, kPitch = 29, kStep = 2;
  const std::vector<float> a = numbers(kPieces * kPitch, 1), b = numbers(kPieces * kPiece * kColumns, 2);
  for (const int64_t target : test::targets()) {
    const test::TargetScope scope(target);
    const auto right = std::make_shared<PackedMatrix>(MatrixView{b.data(), kColumns, 1}, kPieces * kPiece, kColumns);
    const ProductPlan plan({kRows, kColumns, kPieces * kPiece, {}, kPieces, kPitch}, right, 2);
    std::vector<float> c(kRows * kColumns), space(plan.workspace_bytes() / sizeof(float));
    plan.run({.a = {a.data(), kStep, 1}, .c = c.data(), .c_stride = kColumns},
             reinterpret_cast<std::byte*>(space.data()));
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t column = 0; column < kColumns; ++column) {
        double sum = 0;
        for (int64_t k = 0; k < kPieces * kPiece; ++k)
          sum += double{at(a, k / kPiece * kPitch + row * kStep + k % kPiece)} * at(b, k * kColumns + column);
        REQUIRE(at(c, row * kColumns + column) == Approx(sum).margin(1e-5));
      }
  }
}

TEST_CASE("a right matrix that is unpacked piece by piece gives what a packed one does, on every instruction set") {
  for (const int64_t target : test::targets()) {
    const test::TargetScope scope(target);
    for (const int threads : {1, 2, 5})
      for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 5, 3},
                                    {9, 70, 260},
                                    {14, 33, 1031},
                                    {300, 130, 700},
                                    {401, 600, 300},
                                    {17, 64, 0}}) {
        INFO(m << " x " << k << " x " << n << ", threads " << threads);
        const std::vector<float> a = numbers(m * k, 1), b = numbers(k * n, 2), bias = numbers(n, 3);
        const auto unpack = [&, n = n](int64_t column, int64_t columns, int64_t from, int64_t depth, float* out) {
          if (from % 16 != 0) std::abort();
          for (int64_t i = 0; i < depth * columns; ++i)
            out[i] = column + i % columns < n ? at(b, (from + i / columns) * n + column + i % columns) : 0;
        };
        const auto run = [&, m = m, n = n, k = k](const ProductPlan& plan) {
          std::vector<float> c(static_cast<size_t>(m * n), kUntouched);
          std::vector<float> space(plan.workspace_bytes() / sizeof(float), kNan);
          plan.run({.a = {a.data(), k, 1}, .c = c.data(), .c_stride = n, .bias = bias.data()},
                   reinterpret_cast<std::byte*>(space.data()));
          return c;
        };
        const auto packed = std::make_shared<PackedMatrix>(MatrixView{b.data(), n, 1}, k, n);
        const std::vector<float> got = run(ProductPlan({m, n, k}, unpack, threads)),
                                 expected = run(ProductPlan({m, n, k}, packed, threads));
        for (size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == Approx(expected[i]).margin(1e-4));
      }
  }
}

TEST_CASE("equal columns give equal sums, in whatever panels they lie") {
  constexpr int64_t kRows = 15, kDepth = 300, kColumns = 1000;
  for (const int64_t target : test::targets()) {
    const test::TargetScope scope(target);
    const std::vector<float> a = numbers(kRows * kDepth, 1), column = numbers(kDepth, 2);
    const auto right = std::make_shared<PackedMatrix>(MatrixView{column.data(), 1, 0}, kDepth, kColumns);
    const ProductPlan plan({kRows, kColumns, kDepth}, right, 1);
    std::vector<float> c(static_cast<size_t>(kRows * kColumns));
    std::vector<std::byte> space(plan.workspace_bytes() + 64);
    const auto skip = 64 - reinterpret_cast<uintptr_t>(space.data()) % 64;
    plan.run({.a = {a.data(), kDepth, 1}, .c = c.data(), .c_stride = kColumns}, space.data() + skip);
    for (size_t i = 0; i < c.size(); ++i) REQUIRE(c[i] == c[i / kColumns * kColumns]);
  }
}

TEST_CASE("a sum of nothing is the epilogue of 0, and a matrix without elements is left alone") {
  for (const int64_t n : {1, 8, 16, 21})
    for (const bool constant : {false, true}) {
      require_product({.m = 7,
                       .n = n,
                       .k = 0,
                       .constant = constant,
                       .beta = 2,
                       .addend = true,
                       .bias = true,
                       .activation = Fn::kSigmoid});
      require_product({.m = 7, .n = n, .k = 0, .constant = constant});
      require_product({.m = 0, .n = n, .k = 3, .constant = constant});
      require_product({.m = n, .n = 0, .k = 3, .constant = constant});
      require_product({.m = n, .n = 2, .k = 3, .outer = 0, .constant = constant});
    }
}

TEST_CASE("NaN and infinities reach the elements that they belong to and no others") {
  for (const int64_t target : test::targets()) {
    const test::TargetScope scope(target);
    for (const Case& c : {Case{.m = 13, .n = 21, .k = 37}, Case{.m = 13, .n = 100, .k = 300, .constant = false},
                          Case{.m = 1, .n = 16, .k = 5, .activation = Fn::kRelu}})
      for (const float odd : {kNan, std::numeric_limits<float>::infinity()}) {
        Operands o(c);
        std::fill(o.a.begin(), o.a.end(), 0.0f);
        const int64_t column = c.n - 1, row = c.m - 1;
        o.b[static_cast<size_t>((c.k - 1) * c.n + column)] = odd;  // 0 NaN and 0 Inf are NaN
        o.a[static_cast<size_t>(row * c.k)] = odd;
        const std::vector<float> out = run(c, o);
        for (int64_t i = 0; i < c.m; ++i)
          for (int64_t j = 0; j < c.n; ++j) {
            const float got = at(out, i * (c.n + 3) + j);
            REQUIRE((i == row || j == column ? !std::isfinite(got) || c.activation == Fn::kRelu : got == 0));
            if (j == column) REQUIRE(std::isnan(got));
          }
      }
  }
}

}  // namespace mlopt::cpu
