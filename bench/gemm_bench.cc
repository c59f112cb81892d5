// Prints GFLOP/s of the matrix product of core and the reference backend: gemm_bench [THREADS] [float|double].
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/gemm.h"
#include "core/base/parallel.h"
#include "core/base/rng.h"

namespace {

template <class T>
double seconds_for(int64_t m, int64_t n, int64_t k, bool transposed) {
  using mlopt::Strided;
  mlopt::Rng rng(1);
  std::vector<T> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n)), c(static_cast<size_t>(m * n));
  for (T& v : a) v = static_cast<T>(rng.uniform(-1, 1));
  for (T& v : b) v = static_cast<T>(rng.uniform(-1, 1));
  const Strided<T> right = transposed ? mlopt::transpose_of(b.data(), k) : mlopt::rows_of(b.data(), n);
  double best = 1e30;
  for (int i = 0; i < 7; ++i) {
    const auto start = std::chrono::steady_clock::now();
    mlopt::gemm<T>(m, n, k, mlopt::rows_of(a.data(), k), right, c.data(), n);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

void measure(bool wide) {
  const int64_t shapes[][3] = {{128, 768, 768}, {128, 3072, 768}, {128, 768, 3072}, {1024, 1024, 1024}, {64, 3136, 576},
                               {512, 49, 4608}, {128, 128, 64},   {37, 53, 29},     {1, 4096, 4096}};
  for (const auto& [m, n, k] : shapes) {
    for (const bool transposed : {false, true}) {
      const double s = wide ? seconds_for<double>(m, n, k, transposed) : seconds_for<float>(m, n, k, transposed);
      fmt::print("{:5} x {:5} x {:5}{}  {:8.3f} ms  {:7.1f} GFLOP/s\n", m, n, k, transposed ? " (B transposed)" : "",
                 s * 1e3, 2e-9 * static_cast<double>(m * n * k) / s);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool wide = argc > 2 && std::string(argv[2]) == "double";
  mlopt::with_threads(argc > 1 ? std::atoi(argv[1]) : 0, [&] { measure(wide); });
}
