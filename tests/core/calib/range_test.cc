#include "core/calib/range.h"

#include <set>

#include "tests/core/calib/numbers.h"
#include "tests/support/catch.h"
#include "tests/support/thrown.h"

namespace mlopt {

TEST_CASE("names of calibrations are printed as they are parsed") {
  for (const char* text : {"minmax", "percentile=99.9", "percentile=100", "entropy", "mse"})
    REQUIRE(to_string(parse_range_method(text)) == text);
  REQUIRE(to_string(parse_range_method("percentile")) == "percentile=99.99");
}

TEST_CASE("a wrong calibration is a usage error with the nearest name") {
  for (const auto& [text, part] : std::vector<std::pair<const char*, const char*>>{{"entrpy", "entropy"},
                                                                                   {"", "calibration"},
                                                                                   {"percentile=40", "above 50"},
                                                                                   {"percentile=101", "at most 100"},
                                                                                   {"percentile=nan", "above 50"},
                                                                                   {"percentile=", "above 50"},
                                                                                   {"mse=3", "takes no value"}}) {
    INFO(text);
    const Error error = test::thrown_by([&, t = text] { parse_range_method(t); });
    CHECK(error.code == Code::kUsage);
    CHECK(test::says(error, part));
  }
}

TEST_CASE("minmax keeps all that was seen") {
  const Histogram h = test::histogram_of({-1.5f, 0, 8.25f});
  const Range range = choose_range(h, parse_range_method("minmax"), 256);
  REQUIRE(range.min == -1.5);
  REQUIRE(range.max == 8.25);
}

TEST_CASE("each calibration gives its own range") {
  const Histogram h = test::histogram_of(test::laplace(100000));
  const auto chosen = [&](const char* text) { return choose_range(h, parse_range_method(text), 256).max; };
  CHECK(chosen("minmax") == minmax_range(h).max);
  CHECK(chosen("percentile=99.9") == percentile_range(h, 99.9).max);
  CHECK(chosen("entropy") == entropy_range(h, 256).max);
  CHECK(chosen("mse") == mse_range(h, 256).max);
  CHECK(std::set{chosen("minmax"), chosen("percentile=99.9"), chosen("entropy"), chosen("mse")}.size() == 4);
}

TEST_CASE("constant, empty and zero streams have ranges that hold them") {
  const std::vector<std::vector<float>> streams = {{},           {0, 0, 0}, {5, 5, 5},      {-3},
                                                   {6, 6, 0, 0}, {1e-35f},  {-1e30f, 1e30f}};
  for (const auto& stream : streams)
    for (const char* text : {"minmax", "percentile=99.99", "mse", "entropy"}) {
      const Histogram h = test::histogram_of(stream);
      const Range range = choose_range(h, parse_range_method(text), 256);
      INFO(text << " of " << stream.size() << " numbers to " << h.max() << ": " << range.min << " to " << range.max);
      CHECK(std::min(0.0, range.min) == Approx(std::min(0.0, h.min())).epsilon(1e-3));
      CHECK(std::max(0.0, range.max) == Approx(std::max(0.0, h.max())).epsilon(1e-3));
    }
}

}  // namespace mlopt
