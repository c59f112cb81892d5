#include "tests/support/catch.h"
#include "tests/support/conv_cases.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {
namespace {

Tensor codes(const Dims& dims, DType type, uint64_t seed) {
  const bool is_signed = type == DType::kI8;
  return uniform(dims, is_signed ? -128 : 0, is_signed ? 127 : 255, type, seed);
}

}  // namespace

TEST_CASE("ConvInteger gives the reference's sums for every pair of types") {
  for (const DType x_type : {DType::kU8, DType::kI8})
    for (const DType w_type : {DType::kI8, DType::kU8})
      for (const ConvCase& c : kByteConvCases) {
        INFO(to_string(c.x) << " " << name(x_type) << " with " << to_string(c.w) << " " << name(w_type));
        const Tensor x = codes(c.x, x_type, 1), w = codes(c.w, w_type, 2);
        require_as_reference("ConvInteger", {x, w}, {.attrs = c.attrs(), .fixed = true}, 0);
        require_as_reference("ConvInteger", {x, w, tensor({}, {97}, x_type)}, {.attrs = c.attrs(), .fixed = true}, 0);
        require_as_reference("ConvInteger", {x, w, tensor({}, {97}, x_type), tensor({}, {77}, w_type)},
                             {.attrs = c.attrs(), .fixed = true}, 0);
        require_as_reference("ConvInteger", {x, w, tensor({1}, {3}, x_type), codes({c.w[0]}, w_type, 3)},
                             {.attrs = c.attrs(), .fixed = true}, 0);
      }
}

TEST_CASE("the zero point is read in each run") {
  const Model model = fixture(
      "g (float[1,8,6,6] x) => (float[1,4,6,6] y) <int8[4,8,1,1] weights = {-127, -90, -53, -16, 21, 58, 95, -123, "
      "-86, -49, -12, 25, 62, 99, -119, -82, -45, -8, 29, 66, 103, -115, -78, -41, -4, 33, 70, 107, -111, -74, -37, "
      "0}> { q, scale, zero = DynamicQuantizeLinear (x)"
      "  sums = ConvInteger (q, weights, zero)  y = Cast <to = 1> (sums) }");
  require_same_result(model, 0, true);
}

TEST_CASE("weights that are not constant are the next kernel's") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const ConvCase& c = kByteConvCases[0];
  const std::vector<Datum> inputs{codes(c.x, DType::kU8, 1), codes(c.w, DType::kI8, 2)};
  require_close(run_op("ConvInteger", inputs, {.attrs = c.attrs(), .backend = cpu.get()}),
                run_op("ConvInteger", inputs, {.attrs = c.attrs()}));
}

}  // namespace mlopt::test
