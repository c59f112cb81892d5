#include "core/exec/sample_runs.h"

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("a tensor is cut into runs of one sample") {
  const auto runs = [](const Dims& dims, int64_t axis, int64_t samples) {
    const SampleRuns r = sample_runs(dims, axis, samples).value();
    return Dims{r.outer, r.samples, r.length};
  };
  CHECK(runs({4, 5, 6}, 0, 4) == Dims{1, 4, 30});
  CHECK(runs({5, 4, 6}, 1, 4) == Dims{5, 4, 6});
  CHECK(runs({8, 3}, 0, 4) == Dims{1, 4, 6});
  CHECK(runs({5, 6}, -1, 4) == Dims{1, 1, 30});
  CHECK(!sample_runs({6, 3}, 0, 4));
  CHECK(!sample_runs({6, 3}, 2, 3));
  CHECK(!sample_runs({6, 3}, 0, 0));
}
