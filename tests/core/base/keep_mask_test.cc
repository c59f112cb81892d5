#include "core/base/keep_mask.h"

#include <cmath>

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("a mask keeps its share, each element by itself") {
  constexpr int kCount = 40000;
  for (const double ratio : {0.1, 0.5, 0.9}) {
    const KeepMask mask(5, 1, ratio), other(6, 1, ratio), next(5, 2, ratio);
    const double keep = 1 - ratio;
    double kept = 0, pairs = 0, with_other = 0, with_next = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      kept += mask[i];
      pairs += mask[i] && mask[i + 1];
      with_other += mask[i] && other[i];
      with_next += mask[i] && next[i];
    }
    INFO("ratio " << ratio);
    const auto near = [&](double found, double share) {
      return std::fabs(found / kCount - share) < 5 * std::sqrt(share * (1 - share) / kCount);
    };
    CHECK(near(kept, keep));
    CHECK(near(pairs, keep * keep));  // neighbours, samples and nodes have nothing to do with each other
    CHECK(near(with_other, keep * keep));
    CHECK(near(with_next, keep * keep));
  }
  CHECK(KeepMask(1, 0, 0)[3]);
  CHECK(KeepMask(5, 1, 0.5)[77] == KeepMask(5, 1, 0.5)[77]);
}
