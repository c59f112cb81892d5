#include "backends/cpu/pool_taps.h"

#include <cmath>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

/// Both reductions of each column of [taps, n] are those of a plain loop.
template <class T>
void require_as_plain(const Tensor& x) {
  const int64_t count = x.dim(0), n = x.dim(1);
  const T* numbers = x.data<T>();
  std::vector<const T*> taps;
  for (int64_t k = 0; k < count; ++k) taps.push_back(numbers + k * n);
  std::vector<T> most(static_cast<size_t>(n) + 1, T{77});
  cpu::max_of_taps(taps.data(), count, most.data(), n);
  std::vector<float> mean(static_cast<size_t>(n));
  if constexpr (std::is_same_v<T, float>) cpu::mean_of_taps(taps.data(), count, 3, mean.data(), n);
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    T largest = numbers[i];
    double sum = numbers[i];
    for (int64_t k = 1; k < count; ++k) {
      const T v = numbers[k * n + i];
      if (!(v <= largest) && largest == largest) largest = v;
      sum += v;
    }
    REQUIRE((most[at] == largest || (largest != largest && most[at] != most[at])));
    if constexpr (std::is_same_v<T, float>)
      REQUIRE((std::isnan(sum) ? std::isnan(mean[at]) : std::abs(mean[at] - sum / 3) < 1e-4));
  }
  REQUIRE(most.back() == T{77});  // nothing is written beyond the end
}

}  // namespace

TEST_CASE("windows are reduced over any number of taps and channels") {
  for (const int64_t count : {1, 2, 9})
    for (const int64_t n : {1, 5, 8, 13, 16, 31, 32, 33, 70}) {
      INFO(count << " taps of " << n);
      Tensor x = uniform({count, n}, -50, 50);
      require_as_plain<float>(x);
      for (int64_t i = 0; i < x.size(); i += 7) x.mutable_data<float>()[i] = std::nanf("");
      require_as_plain<float>(x);
      require_as_plain<uint8_t>(uniform({count, n}, 0, 255, DType::kU8));
      require_as_plain<int8_t>(uniform({count, n}, -128, 127, DType::kI8));
    }
}

TEST_CASE("weighted taps, of every number of elements") {
  for (const int64_t n : {1, 3, 16, 63, 64, 130})
    for (const int64_t count : {0, 1, 9}) {
      const Tensor x = uniform({count, n}, -1, 1), weights = uniform({count}, -1, 1, DType::kF32, 2);
      std::vector<const float*> taps;
      for (int64_t k = 0; k < count; ++k) taps.push_back(x.data<float>() + k * n);
      std::vector<float> out(static_cast<size_t>(n) + 1, 77);
      cpu::weighted_taps(taps.data(), weights.data<float>(), count, out.data(), n);
      for (int64_t i = 0; i < n; ++i) {
        double sum = 0;
        for (int64_t k = 0; k < count; ++k)
          sum += static_cast<double>(weights.data<float>()[k]) * static_cast<double>(x.data<float>()[k * n + i]);
        REQUIRE(std::abs(static_cast<double>(out[static_cast<size_t>(i)]) - sum) < 1e-6);
      }
      REQUIRE(out.back() == 77);
    }
}

}  // namespace mlopt::test
