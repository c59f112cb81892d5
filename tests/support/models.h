#pragma once
#include <string>

#include "tests/support/temp_dir.h"

namespace mlopt::test {

/// Writes a model given in ONNX's text form and gives its path.
std::string write_text_model(const TempDir& folder, const std::string& name, const std::string& text);

/// Two layers, input x float[N,4], output y float[N,3]: y = Relu(x w) + b.
inline constexpr const char* kTwoLayers = R"(
<ir_version: 10, opset_import: ["" : 21], producer_name: "test">
two_layers (float[N,4] x) => (float[N,3] y)
<float[4,3] w = {1,-2,3,4,5,-6,7,8,9,-1,1,2}, float[3] b = {0.5, -1, 2}>
{
  product = MatMul (x, w)
  positive = Relu (product)
  y = Add (positive, b)
})";

}  // namespace mlopt::test
