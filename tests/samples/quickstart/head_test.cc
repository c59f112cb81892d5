#include "samples/quickstart/head.h"

#include <algorithm>
#include <vector>

#include "core/base/rng.h"
#include "tests/support/catch.h"

using namespace mlopt;
using namespace mlopt::quickstart;

TEST_CASE("The head tells classes apart that lie around different points", "[samples]") {
  constexpr int64_t kCount = 400, kWidth = 12;
  Rng rng(3);
  Tensor features(DType::kF32, {kCount, kWidth});
  std::vector<uint8_t> labels;
  for (int64_t i = 0; i < kCount; ++i) {
    labels.push_back(static_cast<uint8_t>(i % 10));
    for (int64_t k = 0; k < kWidth; ++k)
      features.mutable_data<float>()[i * kWidth + k] = static_cast<float>(5 + (k == i % 10) + 0.1 * rng.normal());
  }
  const Head head = fit_head(features, labels);
  REQUIRE(head.weights.dims() == Dims{kWidth, 10});
  REQUIRE(head.bias.dims() == Dims{10});
  for (int64_t i = 0; i < kCount; ++i) {
    std::vector<float> scores(head.bias.data<float>(), head.bias.data<float>() + 10);
    for (int64_t k = 0; k < kWidth; ++k) {
      for (size_t c = 0; c < 10; ++c)
        scores[c] +=
            features.data<float>()[i * kWidth + k] * head.weights.data<float>()[k * 10 + static_cast<int64_t>(c)];
    }
    CHECK(std::max_element(scores.begin(), scores.end()) - scores.begin() == labels[static_cast<size_t>(i)]);
  }
}
