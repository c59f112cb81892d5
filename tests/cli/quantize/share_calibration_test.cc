#include "cli/quantize/share_calibration.h"

#include <mutex>

#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/ranks.h"

using namespace mlopt;

TEST_CASE("what ranks have seen together is what one would have seen, to the count") {
  constexpr int kRanks = 3, kSamples = 7;
  const auto sample = [](int i) {
    return test::uniform({100}, -1.0 - i * i, 0.5 + i, DType::kF32, static_cast<uint64_t>(i) + 1);
  };
  Calibration whole;
  whole.samples = kSamples;
  for (int i = 0; i < kSamples; ++i) whole.values["x"].see(sample(i));
  whole.values["rare"].see(sample(1));
  std::mutex one;
  test::with_ranks(kRanks, [&](train::Communicator& ranks) {
    Calibration mine;
    for (int i = ranks.rank(); i < kSamples; i += kRanks) mine.values["x"].see(sample(i)), ++mine.samples;
    if (ranks.rank() == 1) mine.values["rare"].see(sample(1));
    const Calibration all = cli::share_calibration(ranks, mine);
    const std::lock_guard<std::mutex> lock(one);
    CHECK(all.samples == kSamples);
    REQUIRE(all.values.size() == 2);
    for (const auto& [name, histogram] : whole.values) {
      CHECK(all.values.at(name).limits() == histogram.limits());
      CHECK(all.values.at(name).counts() == histogram.counts());
    }
  });
}
