#include "quantize/emit/weights.h"

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {

TEST_CASE("the outputs of a layer's weight") {
  Net net;
  Value* image = net.input({1, 3, 4, 4});
  CHECK(quantize::weight_axis(*net.op("Conv", {image, net.constant(uniform({2, 3, 1, 1}, -1, 1))})->producer) == 0);
  Value* rows = net.constant(uniform({2, 3}, -1, 1));
  Value* w = net.constant(uniform({3, 3}, -1, 1));
  CHECK(quantize::weight_axis(*net.op("Gemm", {rows, w})->producer) == 1);
  CHECK(quantize::weight_axis(*net.op("Gemm", {rows, w}, {attr("transB", 1)})->producer) == 0);
  CHECK(quantize::weight_axis(*net.op("MatMul", {rows, w})->producer) == 1);
  CHECK_FALSE(quantize::is_weighted(*net.op("Relu", {rows})->producer));
}

TEST_CASE("only bytes that saturate in pairs need room for them") {
  Net net;
  const Tensor w = tensor({2, 1}, {100, 1});
  Value* y = net.op("Gemm", {net.input({1, 2}), net.constant(w)});
  const Tensor bias = tensor({1}, {0});
  const auto room = [&](const char* spec) {
    return quantize::least_scales(*y->producer, w, &bias, 1, quantize::parse_spec(spec))[0];
  };
  CHECK(room("w8a8") == Approx(101.0f / 127));
  CHECK(room("w8a8:target=ort:x86-amx") == 0);
  CHECK(room("w4a8") == 0);
}

TEST_CASE("a zero point has the type of its grid") {
  for (const bool symmetric : {false, true})
    for (const int bits : {4, 8}) {
      const quantize::Grid grid = quantize::activation_grid({-1, 1}, symmetric, bits);
      CHECK(quantize::zero_point_of(grid).dtype() == grid.type);
      CHECK(number_at(quantize::zero_point_of(grid), 0) == grid.zero_point);
    }
}

TEST_CASE("constants are uneven along the axis whose largest numbers differ most") {
  CHECK(quantize::uneven_axis(Tensor::of<float>({3, 1, 1}, {1, 20, 300})) == 0);
  CHECK(quantize::uneven_axis(Tensor::of<float>({2, 3}, {1, 20, 300, 1, 20, 300})) == 1);
  CHECK(quantize::uneven_axis(Tensor::of<float>({3, 2}, {1, 1, 20, 20, 300, 300})) == 0);
  CHECK(quantize::uneven_axis(Tensor::of<float>({1, 1}, {4})) == -1);
  CHECK(quantize::uneven_axis(Tensor::scalar(4.0F)) == -1);
}

}  // namespace mlopt::test
