#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

// Sums of up to 200 products of numbers below 1, in another order than the reference's.
constexpr double kTolerance = 1e-5;

}  // namespace

TEST_CASE("ConvTranspose gives what the reference gives") {
  struct Case {
    Dims x, w;
    Ints strides, dilations, pads, extra;
    int64_t group = 1;
  };
  const Case cases[] = {
      {{1, 3, 5, 7}, {3, 4, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, {0, 0}},
      {{2, 8, 6, 5}, {8, 5, 2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, {0, 0}},
      {{1, 4, 6, 5}, {4, 3, 3, 4}, {1, 3}, {2, 1}, {0, 1, 2, 0}, {0, 2}, 2},
      {{1, 6, 6, 5}, {6, 1, 4, 4}, {2, 2}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 6},
      {{1, 3, 11}, {3, 2, 5}, {3}, {1}, {2, 1}, {1}},
      {{1, 2, 3, 4, 3}, {2, 3, 2, 3, 2}, {2, 1, 2}, {1, 1, 1}, {0, 1, 0, 0, 1, 1}, {0, 0, 0}},
  };
  for (const Case& c : cases) {
    INFO(to_string(c.x) << " with " << to_string(c.w));
    const std::vector<Attr> attrs{{"strides", c.strides, ""},
                                  {"dilations", c.dilations, ""},
                                  {"pads", c.pads, ""},
                                  {"output_padding", c.extra, ""},
                                  {"group", c.group, ""}};
    const Tensor x = uniform(c.x, -1, 1, DType::kF32, 1), w = uniform(c.w, -1, 1, DType::kF32, 2);
    require_as_reference("ConvTranspose", {x, w}, {.attrs = attrs}, kTolerance);
    require_as_reference("ConvTranspose", {x, w, uniform({c.w[1] * c.group}, -1, 1)}, {.attrs = attrs}, kTolerance);
  }
}

TEST_CASE("ConvTranspose pads to the shape asked for") {
  const Tensor x = uniform({1, 2, 4, 5}, -1, 1), w = uniform({2, 3, 3, 3}, -1, 1, DType::kF32, 2);
  require_as_reference("ConvTranspose", {x, w},
                       {.attrs = {{"strides", Ints{2, 2}, ""}, {"output_shape", Ints{8, 10}, ""}}}, kTolerance);
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"})
    require_as_reference("ConvTranspose", {x, w},
                         {.attrs = {{"strides", Ints{2, 3}, ""}, {"auto_pad", std::string(mode), ""}}}, kTolerance);
}

}  // namespace mlopt::test
