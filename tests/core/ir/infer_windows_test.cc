#include "tests/support/catch.h"
#include "tests/support/infer.h"

using namespace mlopt::test;

namespace {

std::string pooled(const std::string& x, const std::string& attributes) {
  return types_in("float[" + x + "] x", "y = MaxPool<" + attributes + ">(x)", "y");
}

}  // namespace

// Checked with onnx.shape_inference (1.23) for the integers.

TEST_CASE("a convolution's output follows from kernel, stride, padding and dilation") {
  const auto convolved = [](const std::string& attributes) {
    return types_in("float[N,3,H,224] x, float[8,3,7,7] w", "y = Conv" + attributes + "(x, w)", "y");
  };
  CHECK(convolved("") == "float32[N,8,H-6,218]");
  CHECK(convolved("<pads = [3,3,3,3], strides = [2,2]>") == "float32[N,8,(H-1)//2+1,112]");
  CHECK(convolved("<pads = [0,1,2,3], dilations = [2,3]>") == "float32[N,8,H-10,210]");
  CHECK(convolved("<auto_pad = \"SAME_UPPER\", strides = [1,2]>") == "float32[N,8,H,112]");
  CHECK(convolved("<auto_pad = \"VALID\", pads = [3,3,3,3]>") == "float32[N,8,H-6,218]");
  CHECK(types_in("float[N,3,H,224] a, int64[K] s, float[8,3,7,7] w", "x = Reshape(a, s) y = Conv(x, w)", "y") ==
        "float32[?,8,?,?]");
}

TEST_CASE("ceil_mode adds a window where one starts inside the input") {
  CHECK(pooled("1,1,5,6", "kernel_shape = [2,2], strides = [2,2]") == "float32[1,1,2,3]");
  CHECK(pooled("1,1,5,6", "kernel_shape = [2,2], strides = [2,2], ceil_mode = 1") == "float32[1,1,3,3]");
  CHECK(pooled("1,1,2,2", "kernel_shape = [1,1], strides = [2,2], pads = [0,0,1,1], ceil_mode = 1") ==
        "float32[1,1,1,1]");
  CHECK(pooled("1,1,1,5", "kernel_shape = [2,2], strides = [2,2], ceil_mode = 1") == "float32[1,1,1,3]");
  CHECK(pooled("1,1,1,5", "kernel_shape = [3,2], strides = [2,2], ceil_mode = 1") == "float32[1,1,?,3]");
  CHECK(pooled("1,1,H,4", "kernel_shape = [2,2], strides = [2,2], ceil_mode = 1") == "float32[1,1,?,2]");
}

TEST_CASE("windows that make no sense have no size, and overflow is no number") {
  CHECK(pooled("1,1,8,8", "kernel_shape = [2,2], strides = [0,1]") == "float32[1,1,?,7]");
  CHECK(pooled("1,1,8,8", "kernel_shape = [2,2], pads = [1]") == "float32[1,1,?,?]");
  CHECK(pooled("1,1,8,8", "kernel_shape = [9223372036854775807,2], dilations = [9,1]") == "float32[1,1,?,7]");
  CHECK(pooled("1,1,8,8", "kernel_shape = [2,2,2]") == "float32[...]");
  CHECK(pooled("1,1,4,8", "kernel_shape = [5,2]") == "float32[1,1,?,7]");
  CHECK(pooled("1,1,4,8", "kernel_shape = [5,2], pads = [1,0,0,0]") == "float32[1,1,1,7]");
  CHECK(types_in("float[1,1,4] x, float[1,1,5] w", "y = Conv(x, w)", "y") == "float32[1,1,?]");
  CHECK(types_in("float[1,1,4] x", "y = LpPool <kernel_shape = [5]> (x)", "y") == "float32[1,1,?]");
}

TEST_CASE("a transposed convolution's output follows from stride, padding, dilation and group") {
  const char* inputs = "float[1,4,5,7] x, float[4,3,3,2] w";
  for (const char* attributes : {"", "<strides = [2,3], pads = [1,0,1,1], output_padding = [1,0]>",
                                 "<group = 2, dilations = [2,1], kernel_shape = [3,2]>"}) {
    const std::string node = std::string("y = ConvTranspose") + attributes + "(x, w)";
    INFO(node);
    CHECK(types_in(inputs, node, "y") == standard_type_in(inputs, node, "y", 21));
  }
  CHECK(types_in(inputs, "y = ConvTranspose<strides = [2,3]>(x, w)", "y") == "float32[1,3,11,20]");
  CHECK(types_in("float[N,4,H,7] x, float[4,3,2,2] w", "y = ConvTranspose<strides = [2,2]>(x, w)", "y") ==
        "float32[N,3,2*H,14]");
  // ONNX's own inference gives less where the stride does not divide the input.
  CHECK(types_in(inputs, "y = ConvTranspose<auto_pad = \"SAME_UPPER\", strides = [2,3]>(x, w)", "y") ==
        "float32[1,3,10,21]");
  CHECK(types_in(inputs, "y = ConvTranspose<output_shape = [9,9]>(x, w)", "y") == "?");
  CHECK(types_in(inputs, "y = ConvTranspose<strides = [2]>(x, w)", "y") == "?");
}
