#include "core/base/gemm.h"

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/rng.h"
#include "tests/support/catch.h"

namespace mlopt {
namespace {

template <class T>
std::vector<T> random_values(int64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& v : values) v = static_cast<T>(rng.uniform(-1, 1));
  return values;
}

/// The largest difference from a product summed in double, over all ways to store A and B.
template <class T>
double worst_error(int64_t m, int64_t n, int64_t k, bool add) {
  double worst = 0;
  const std::vector<T> a = random_values<T>(m * k, 1), b = random_values<T>(k * n, 2);
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      const Strided<T> left = a_transposed ? transpose_of(a.data(), m) : rows_of(a.data(), k);
      const Strided<T> right = b_transposed ? transpose_of(b.data(), k) : rows_of(b.data(), n);
      const int64_t ldc = n + 3;
      std::vector<T> c(static_cast<size_t>(m * ldc), T{7});
      gemm<T>(m, n, k, left, right, c.data(), ldc, add);
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < ldc; ++j) {
          double want = j >= n || add ? 7 : 0;
          for (int64_t p = 0; p < k && j < n; ++p)
            want += static_cast<double>(left.data[i * left.row + p * left.col]) *
                    static_cast<double>(right.data[p * right.row + j * right.col]);
          worst = std::max(worst, std::abs(want - static_cast<double>(c[static_cast<size_t>(i * ldc + j)])));
        }
      }
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("gemm multiplies matrices of any size and storage") {
  // Around the tile and block sizes, thin ones, and empty sums.
  const int64_t shapes[][3] = {{1, 1, 1},   {1, 70, 33},  {2, 5, 300},  {3, 1, 7},     {5, 17, 0},
                               {6, 16, 64}, {7, 33, 257}, {13, 65, 19}, {97, 130, 70}, {100, 1030, 3}};
  for (const auto& [m, n, k] : shapes) {
    for (const bool add : {false, true}) {
      INFO(m << " x " << n << " x " << k << (add ? ", added" : ""));
      // A sum of k products below 1 in magnitude errs by less than k * k / 2 roundings, far less on average.
      CHECK(worst_error<float>(m, n, k, add) <= 6e-7 * static_cast<double>(k + 8));
      CHECK(worst_error<double>(m, n, k, add) <= 1.2e-15 * static_cast<double>(k + 8));
    }
  }
}

TEST_CASE("gemm gives the same bits on any number of threads") {
  const int64_t m = 150, n = 333, k = 290;
  const std::vector<float> a = random_values<float>(m * k, 3), b = random_values<float>(k * n, 4);
  std::vector<float> one(static_cast<size_t>(m * n)), many(one);
  with_threads(1, [&] { gemm<float>(m, n, k, rows_of(a.data(), k), rows_of(b.data(), n), one.data(), n); });
  for (const int threads : {2, 3, 5, 8}) {
    with_threads(threads, [&] { gemm<float>(m, n, k, rows_of(a.data(), k), rows_of(b.data(), n), many.data(), n); });
    CHECK(one == many);
  }
}

TEST_CASE("gemm keeps NaN and infinity where they belong") {
  const int64_t n = 19;
  std::vector<float> a(n * n, 0), b(n * n, 0), c(n * n);
  for (int64_t i = 0; i < n; ++i) a[static_cast<size_t>(i * n + i)] = b[static_cast<size_t>(i * n + i)] = 1;
  a[0] = std::numeric_limits<float>::infinity();
  gemm<float>(n, n, n, rows_of(a.data(), n), rows_of(b.data(), n), c.data(), n);
  CHECK(std::isinf(c[0]));
  CHECK(std::isnan(c[1]));  // infinity times zero
  for (size_t i = static_cast<size_t>(n); i < c.size(); ++i) REQUIRE(c[i] == b[i]);
}

}  // namespace mlopt
