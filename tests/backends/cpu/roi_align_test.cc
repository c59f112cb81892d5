#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

OpOptions how(int64_t rows, int64_t columns, int64_t sampling, const std::string& mode, int64_t opset = 16) {
  OpOptions options{.attrs = {{"output_height", rows, ""},
                              {"output_width", columns, ""},
                              {"sampling_ratio", sampling, ""},
                              {"spatial_scale", 0.5f, ""}},
                    .opset = opset};
  if (opset >= 16) options.attrs.push_back({"coordinate_transformation_mode", mode, ""});
  return options;
}

Tensor regions(const std::vector<double>& corners) {
  return tensor({static_cast<int64_t>(corners.size()) / 4, 4}, corners);
}

}  // namespace

TEST_CASE("regions in, beside and around the picture, sampled as asked and as many times as fit") {
  const Tensor boxes = regions({0, 0, 20, 16, 3.3, 2.1, 9.7, 30, -9, -7, 4, 5, 18, 14, 40, 60, 5, 5, 5, 5, 9, 9, 3, 2});
  const Tensor of = tensor({6}, {0, 1, 1, 0, 1, 0}, DType::kI64);
  for (const int64_t channels : {1, 3, 5, 33})
    for (const int64_t sampling : {0, 1, 2, 3})
      for (const std::string mode : {"half_pixel", "output_half_pixel"}) {
        INFO(channels << " channels, " << sampling << " samples, " << mode);
        const Tensor x = uniform({2, channels, 9, 11}, -1, 1);
        require_as_reference("RoiAlign", {x, boxes, of}, how(3, 2, sampling, mode), 1e-5);
        require_as_reference("RoiAlign", {x, boxes, of}, how(7, 7, sampling, mode), 1e-5);
      }
  require_as_reference("RoiAlign", {uniform({2, 4, 9, 11}, -1, 1), boxes, of}, how(2, 2, 2, "", 10), 1e-5);
}

TEST_CASE("a picture of one pixel") {
  require_as_reference("RoiAlign", {uniform({1, 3, 1, 1}, -1, 1), regions({0, 0, 3, 3}), tensor({1}, {0}, DType::kI64)},
                       how(2, 3, 2, "half_pixel"), 1e-5);
}

TEST_CASE("broken regions and pictures that are not there are refused in the reference's words") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const auto error = [&](double corner, double picture, int64_t height = 4) {
    const Tensor x = uniform({2, 3, height, 5}, -1, 1), of = tensor({1}, {picture}, DType::kI64);
    OpOptions options = how(2, 2, 0, "half_pixel");
    options.backend = cpu.get();
    return error_of("RoiAlign", {x, regions({0, 0, corner, 3}), of}, options);
  };
  CHECK(error(NAN, 0).find("not finite") != std::string::npos);
  CHECK(error(1e30, 0).find("too large") != std::string::npos);
  CHECK(error(3, 2).find("outside the batch") != std::string::npos);
  CHECK(error(3, 0, 0).find("the picture is empty") != std::string::npos);
}

}  // namespace mlopt::test
