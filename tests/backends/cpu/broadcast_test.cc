#include "backends/cpu/broadcast.h"

#include <numeric>

#include "tests/support/catch.h"

namespace mlopt::cpu {
namespace {

/// Where each element of the output comes from in an operand of these dims, one axis after the other.
std::vector<int64_t> sources(const Dims& out, const Dims& dims) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < element_count(out); ++i) {
    int64_t rest = i, at = 0, step = 1;
    for (size_t axis = out.size(), own = dims.size(); own-- > 0;) {
      --axis;
      if (dims[own] != 1) at += rest % out[axis] * step;
      step *= dims[own];
      rest /= out[axis];
    }
    all.push_back(at);
  }
  return all;
}

}  // namespace

TEST_CASE("operands are stepped through as broadcasting says, whatever axes were merged") {
  const std::pair<Dims, Dims> shapes[] = {{{2, 3, 4}, {2, 3, 4}},
                                          {{2, 3, 4}, {4}},
                                          {{2, 3, 4}, {3, 1}},
                                          {{2, 3, 4}, {2, 1, 1}},
                                          {{2, 3, 4}, {}},
                                          {{5, 1, 4, 1}, {3, 1, 6}},
                                          {{1, 1, 7}, {9, 1, 1}},
                                          {{1}, {1}},
                                          {{}, {}},
                                          {{2, 1, 3, 1, 2}, {2, 5, 3, 7, 2}}};
  for (const auto& [a, b] : shapes)
    for (const int threads : {1, 3}) {
      const Dims out = broadcast(a, b);
      const auto count = static_cast<size_t>(element_count(out));
      std::vector<int64_t> from_a(count, -1), from_b(count, -1);
      const Paired p = paired(out, a, b);
      const auto note = [&](int64_t start, int64_t n, int64_t left, int64_t right) {
        for (int64_t i = 0; i < n; ++i) {
          from_a[static_cast<size_t>(start + i)] = left + i * p.strides.back()[0];
          from_b[static_cast<size_t>(start + i)] = right + i * p.strides.back()[1];
        }
      };
      with_threads(threads, [&] { for_rows(p, 1, note); });
      INFO(to_string(a) << " with " << to_string(b));
      REQUIRE(from_a == sources(out, a));
      REQUIRE(from_b == sources(out, b));
    }
}

TEST_CASE("axes that both operands step through alike are one") {
  REQUIRE(paired({2, 3, 4}, {2, 3, 4}, {2, 3, 4}).dims == Dims{24});
  REQUIRE(paired({2, 3, 4}, {2, 3, 4}, {4}).dims == Dims{6, 4});
  REQUIRE(paired({2, 3, 4}, {2, 3, 4}, {3, 1}).dims == Dims{2, 3, 4});
}

}  // namespace mlopt::cpu
