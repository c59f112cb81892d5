#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

constexpr double kTolerance = 1e-5;

std::vector<Attr> attrs(const std::string& mode, const std::string& padding, int64_t align_corners) {
  return {{"mode", mode, ""}, {"padding_mode", padding, ""}, {"align_corners", align_corners, ""}};
}

}  // namespace

TEST_CASE("GridSample in and beside the picture, with more points than a block") {
  const Tensor x = uniform({2, 3, 7, 5}, -1, 1), grid = uniform({2, 13, 11, 2}, -2.5, 2.5);
  for (const std::string mode : {"linear", "nearest"})
    for (const std::string padding : {"zeros", "border", "reflection"})
      for (const int64_t align_corners : {0, 1}) {
        INFO(mode << " " << padding << " " << align_corners);
        require_as_reference("GridSample", {x, grid}, {.attrs = attrs(mode, padding, align_corners)}, kTolerance);
      }
}

TEST_CASE("what lies outside takes nothing from the picture, and places that are no numbers are outside") {
  Tensor x = uniform({1, 1, 3, 3}, -1, 1), grid = uniform({1, 1, 4, 2}, 5, 9);
  x.mutable_data<float>()[0] = std::nanf("");
  grid.mutable_data<float>()[2] = std::nanf("");
  require_as_reference("GridSample", {x, grid}, {.attrs = attrs("linear", "zeros", 0)}, kTolerance);
}

TEST_CASE("a picture of one place") {
  require_as_reference("GridSample", {uniform({1, 2, 1, 1}, -1, 1), uniform({1, 3, 3, 2}, -1.5, 1.5)}, {}, kTolerance);
}

TEST_CASE("volumes and cubic sampling are not for this kernel") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const auto same = [&](const Dims& x, const Dims& grid, const std::vector<Attr>& how) {
    const std::vector<Datum> inputs{uniform(x, -1, 1), uniform(grid, -1.5, 1.5)};
    const auto got = run_node("GridSample", inputs, {.attrs = how, .backend = cpu.get()});
    require_close(got[0].tensor(), run_node("GridSample", inputs, {.attrs = how})[0].tensor(), kTolerance);
  };
  same({1, 2, 3, 4, 2}, {1, 2, 2, 2, 3}, {});
  same({1, 2, 5, 4}, {1, 3, 3, 2}, attrs("cubic", "zeros", 0));
}

}  // namespace mlopt::test
