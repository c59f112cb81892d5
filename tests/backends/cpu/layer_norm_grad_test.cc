#include <cmath>

#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

OpOptions options(int axis, bool centered) {
  return {.attrs = {attr("axis", axis), attr("epsilon", 1e-3f), attr("centered", centered ? 1 : 0)},
          .domain = "mlopt",
          .outputs = 3};
}

Tensor scale_of(const Tensor& x, int axis) {
  return uniform(Dims(x.dims().begin() + axis, x.dims().end()), -1, 2, DType::kF32, 3);
}

}  // namespace

TEST_CASE("the gradients of layer norms give what the reference gives") {
  for (const Dims& dims : {Dims{7}, Dims{5, 1}, Dims{37, 128}, Dims{2, 3, 5, 7}, Dims{3, 9001}, Dims{300, 67}})
    for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis)
      for (const bool centered : {false, true})
        for (const double shift : {0.0, 20.0}) {
          INFO(to_string(dims) << " from axis " << axis << (centered ? " centered" : "") << " around " << shift);
          const Tensor x = uniform(dims, shift - 1, shift + 2);
          require_as_reference("LayerNormGrad", {x, uniform(dims, -1, 1, DType::kF32, 2), scale_of(x, axis)},
                               options(axis, centered), shift == 0 ? 2e-5 : 2e-4);
        }
}

TEST_CASE("the gradients of layer norms of rows that are flat, infinite or no numbers") {
  Tensor x = uniform({6, 19}, -1, 1), dy = uniform({6, 19}, -1, 1, DType::kF32, 2);
  std::fill_n(x.mutable_data<float>(), 19, 0.25f);
  x.mutable_data<float>()[2 * 19 + 3] = NAN;
  x.mutable_data<float>()[3 * 19 + 18] = INFINITY;
  dy.mutable_data<float>()[4 * 19 + 17] = NAN;
  for (const bool centered : {false, true})
    require_as_reference("LayerNormGrad", {x, dy, scale_of(x, 1)}, options(1, centered), 2e-5);
}

TEST_CASE("sums of a layer norm's gradient are the same whatever the thread count") {
  const Tensor x = uniform({501, 70}, -1, 1), dy = uniform({501, 70}, -1, 1, DType::kF32, 2);
  const auto backend = cpu_with_fallback();
  OpOptions one = options(1, true), three = one;
  one.backend = three.backend = backend.get();
  one.threads = 1;
  three.threads = 3;
  const auto expected = run_node("LayerNormGrad", {x, dy, scale_of(x, 1)}, one);
  const auto actual = run_node("LayerNormGrad", {x, dy, scale_of(x, 1)}, three);
  for (size_t i = 0; i < expected.size(); ++i) require_close(actual[i].tensor(), expected[i].tensor(), 0);
}

}  // namespace mlopt::test
