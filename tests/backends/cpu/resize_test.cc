#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

std::vector<Attr> attrs_of(const std::string& mode, const std::string& coordinates, const std::string& nearest) {
  return {{"mode", mode, ""}, {"coordinate_transformation_mode", coordinates, ""}, {"nearest_mode", nearest, ""}};
}

/// Constant sizes are what the kernel takes, so all inputs are.
void require_same_constant(const std::string& op, const std::vector<Datum>& inputs, OpOptions options) {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  options.fixed = true;
  const Tensor expected = run_op(op, inputs, options);
  options.backend = cpu.get();
  require_close(run_op(op, inputs, options), expected, 2e-6);
}

}  // namespace

TEST_CASE("Resize gives what the reference gives in every mode") {
  const Tensor x = uniform({2, 3, 5, 7}, -1, 1);
  const Tensor scales = tensor({4}, {1, 1, 2.3, 0.6}), sizes = Tensor::ints({2, 3, 9, 16});
  for (const char* coordinates :
       {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"}) {
    for (const char* mode : {"linear", "cubic"}) {
      INFO(mode << " " << coordinates);
      require_same_constant("Resize", {x, Datum(), scales}, {.attrs = attrs_of(mode, coordinates, "floor")});
      require_same_constant("Resize", {x, Datum(), Datum(), sizes}, {.attrs = attrs_of(mode, coordinates, "floor")});
    }
    for (const char* nearest : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
      INFO(nearest << " " << coordinates);
      require_same_constant("Resize", {x, Datum(), scales}, {.attrs = attrs_of("nearest", coordinates, nearest)});
    }
  }
}

TEST_CASE("Resize gives what the reference gives with wider kernels, and without what is outside") {
  const Tensor x = uniform({2, 3, 9, 7}, -1, 1);
  for (const char* mode : {"linear", "cubic"})
    for (const char* option : {"antialias", "exclude_outside"}) {
      INFO(mode << " " << option);
      const OpOptions options{.attrs = {{"mode", std::string(mode), ""}, {option, int64_t{1}, ""}}};
      require_same_constant("Resize", {x, Datum(), tensor({4}, {1, 1, 0.4, 1.7})}, options);
      require_same_constant("Resize", {x, Datum(), Datum(), Tensor::ints({2, 3, 4, 15})}, options);
    }
}

TEST_CASE("Resize takes axes, and Upsample attributes") {
  const Tensor x = uniform({2, 3, 5, 7}, -1, 1);
  require_same_constant("Resize", {x, Datum(), tensor({2}, {2, 3})},
                        {.attrs = {{"mode", std::string("linear"), ""}, {"axes", std::vector<int64_t>{3, 0}, ""}}});
  require_same_constant("Upsample", {x, tensor({4}, {1, 1, 2, 3})},
                        {.attrs = {{"mode", std::string("linear"), ""}}, .opset = 9});
  require_same_constant("Upsample", {x}, {.attrs = {{"scales", std::vector<float>{1, 1, 2, 2}, ""}}, .opset = 7});
  require_same_constant("Resize", {x, tensor({4}, {1, 1.5, 0.6, 0.3})}, {.opset = 10});
}

}  // namespace mlopt::test
