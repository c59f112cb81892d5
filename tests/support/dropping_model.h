#pragma once

namespace mlopt::test {

/// The two layers of models.h, with a Dropout that drops in training alone.
inline constexpr const char* kDropping = R"(
<ir_version: 10, opset_import: ["" : 21], producer_name: "test">
dropping (float[N,4] x) => (float[N,3] y)
<float[4,3] w = {1,-2,3,4,5,-6,7,8,9,-1,1,2}, float[3] b = {0.5, -1, 2}, float ratio = {0.25}>
{
  product = MatMul (x, w)
  dropped = Dropout (product, ratio)
  positive = Relu (dropped)
  y = Add (positive, b)
})";

}  // namespace mlopt::test
