#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

Attr list(const char* name, std::vector<int64_t> values) { return attr(name, AttrValue(std::move(values))); }

OpOptions own(std::vector<Attr> attrs) { return {.attrs = std::move(attrs), .domain = "mlopt"}; }

double dot(const Tensor& a, const Tensor& b) {
  double sum = 0;
  const std::vector<double> left = to_doubles(a), right = to_doubles(b);
  for (size_t i = 0; i < left.size(); ++i) sum += left[i] * right[i];
  return sum;
}

/// A node that computes a gradient, and its inputs in float64.
struct GradNode {
  const char* op;
  std::vector<Datum> inputs;
  std::vector<Attr> attrs;
};

std::vector<GradNode> grad_nodes() {
  const auto real = [](Dims dims, uint64_t seed = 1) { return uniform(std::move(dims), -1, 1, DType::kF64, seed); };
  const Tensor x = real({2, 4, 5, 6}), rows = real({5, 7}), scale = real({4}, 3);
  const Attr kernel = list("kernel_shape", {2, 3});
  const Datum none;
  return {
      {"ConvGradWeight", {x, real({2, 6, 4, 4}, 2)}, {list("shape", {6, 2, 2, 3}), attr("group", 2)}},
      {"MaxPoolGrad", {x, real({2, 4, 4, 4}, 2)}, {kernel}},
      {"AveragePoolGrad", {x, real({2, 4, 4, 4}, 2)}, {kernel}},
      {"LpPoolGrad", {x, real({2, 4, 4, 4}, 2)}, {kernel}},
      {"SoftmaxGrad", {rows, real({5, 7}, 2)}, {}},
      {"LogSoftmaxGrad", {rows, real({5, 7}, 2)}, {attr("axis", 0)}},
      {"BatchNormGrad", {x, real({2, 4, 5, 6}, 2), scale}, {}},
      {"LayerNormGrad", {rows, real({5, 7}, 2), real({7}, 3)}, {}},
      {"GroupNormGrad", {x, real({2, 4, 5, 6}, 2), scale}, {attr("num_groups", 2)}},
      {"LSTMGrad",
       {real({3, 2, 4}), real({1, 20, 4}, 2), real({1, 20, 5}, 3), none, none, none, none, none, real({3, 1, 2, 5}, 4)},
       {}},
  };
}

}  // namespace

TEST_CASE("gradients in float32 and float16 are those in float64, rounded") {
  for (const GradNode& node : grad_nodes()) {
    INFO(node.op);
    for (const DType type : {DType::kF32, DType::kF16}) {
      // Both begin with what float16 holds.
      std::vector<Datum> wide, narrow;
      Tensor half;
      for (const Datum& input : node.inputs) {
        if (!input.is_none()) half = cast(input.tensor(), DType::kF16);
        wide.push_back(input.is_none() ? input : Datum(cast(half, DType::kF64)));
        narrow.push_back(input.is_none() ? input : Datum(cast(half, type)));
      }
      const Tensor expected = cast(run_op(node.op, wide, own(node.attrs)), type);
      require_close(run_op(node.op, narrow, own(node.attrs)), expected, type == DType::kF32 ? 1e-5 : 2e-3);
    }
  }
}

TEST_CASE("the gradient of many windows, made in pieces, is the transpose of the convolution") {
  const Tensor x = uniform({2, 64, 50, 51}, -1, 1, DType::kF64, 1), w = uniform({6, 64, 3, 3}, -1, 1, DType::kF64, 2);
  const Attr pads = list("pads", {1, 0, 2, 1});
  const Tensor y = run_op("Conv", {x, w}, {.attrs = {pads}});
  const Tensor dy = uniform(y.dims(), -1, 1, DType::kF64, 3);
  const Tensor dw = run_op("ConvGradWeight", {x, dy}, own({pads, list("shape", {6, 64, 3, 3})}));
  CHECK(dot(dw, w) == Approx(dot(dy, y)));
}

TEST_CASE("gradients refuse what does not fit") {
  const Tensor x = uniform({1, 4, 5, 6}, -1, 1), small = uniform({1, 2, 2, 2}, -1, 1), row = uniform({3}, -1, 1);
  const Attr kernel = list("kernel_shape", {2, 3});
  check_errors({
      {"ConvGradWeight", {x, small}, own({list("shape", {2, 4, 2, 3})}), "dy has shape 1x2x2x2, not 1x2x4x4"},
      {"ConvGradWeight", {x, small}, own({list("shape", {2, 3, 2, 3})}), "make no 1 groups"},
      {"ConvGradWeight", {x, small}, own({list("shape", {2})}), "must have the same rank"},
      {"MaxPoolGrad", {x, small}, own({kernel}), "dy does not fit"},
      {"SoftmaxGrad", {x, small}, own({}), "must be of one type"},
      {"BatchNormGrad", {x, x, row}, own({}), "has 3 elements, 4 are needed"},
      {"GroupNormGrad", {x, x, row}, own({attr("num_groups", 3)}), "num_groups must divide"},
      {"LayerNormGrad", {x, small, row}, own({}), "has 3 elements, 6 are needed"},
      {"ResizeGrad", {x, Datum(), tensor({4}, {1, 1, 2, 2})}, own({list("shape", {1, 4, 5, 6})}), "dy does not fit"},
      {"ResizeGrad",
       {x, Datum(), tensor({4}, {1, 1, 2, 2})},
       own({list("shape", {1 << 20, 1 << 20, 1 << 20, 1})}),
       "too large"},
      {"LSTMGrad", {uniform({2, 1, 3}, -1, 1), row, row}, own({}), "must have rank 3"},
      {"RNNGrad",
       {uniform({2, 1, 3}, -1, 1), uniform({1, 2, 3}, -1, 1), uniform({1, 2, 2}, -1, 1)},
       own({attr("activations", AttrValue(std::vector<std::string>{"Elu"}))}),
       "no derivative of the activation"},
  });
}

}  // namespace mlopt::test
