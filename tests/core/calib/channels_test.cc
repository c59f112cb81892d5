#include "core/calib/channels.h"

#include <algorithm>

#include "backends/reference/backend.h"
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
  Model model = test::fixture("g (float[N,3,4] x) => (float[N,3,4] y) { a = Relu (x)  y = Neg (a) }");
  Tensor x = test::uniform({6, 3, 4}, -1, 1);
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};

  std::vector<ChannelStatistics> run(const std::vector<std::string>& names, int64_t samples = 128) const {
    const test::MemoryData data(x, std::nullopt);
    return channel_statistics(model, names, {&runner, &data, samples});
  }
};

}  // namespace

TEST_CASE("each channel's extremes, mean and variance are those of all its places in all samples") {
  const Setup s;
  const auto seen = s.run({"y", "a"});
  REQUIRE(seen.size() == 2);
  const std::vector<float> x = to_floats(s.x);
  for (size_t c = 0; c < 3; ++c) {
    double sum = 0, squares = 0, most = 0;
    for (size_t n = 0; n < 6; ++n)
      for (size_t k = 0; k < 4; ++k) {
        const double v = std::max(0.0, static_cast<double>(x[(n * 3 + c) * 4 + k]));
        sum += v, squares += v * v, most = std::max(most, v);
      }
    const double mean = sum / 24;
    CHECK(seen[0].means.at(c) == Approx(-mean));
    CHECK(seen[0].mins.at(c) == Approx(-most));
    CHECK(seen[1].means.at(c) == Approx(mean));
    CHECK(seen[1].maxes.at(c) == Approx(most));
    CHECK(seen[1].mins.at(c) == 0);
    CHECK(seen[1].variances.at(c) == Approx(squares / 24 - mean * mean));
  }
}

TEST_CASE("only as many samples are shown as are asked for, and none at all is refused") {
  const Setup s;
  const test::MemoryData data(s.x, std::nullopt);
  int64_t numbers = 0;
  const std::string name = "a";
  const int64_t samples =
      each_value(s.model, {&name, 1}, {&s.runner, &data, 2}, [&](size_t, const Tensor& t) { numbers += t.size(); });
  CHECK(samples == 2);
  CHECK(numbers == 24);
  Setup none;
  none.x = Tensor(DType::kF32, {0, 3, 4});
  CHECK(test::contains(test::error_of([&] { none.run({"a"}); }), "no sample"));
}
