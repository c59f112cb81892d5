#include <cmath>

#include "core/ir/typed_op.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

struct Case {
  Dims x;
  Ints kernel, strides, dilations, pads;
  int64_t ceil = 0, counts_padding = 0;
};

// Windows side by side, overlapping, with gaps, and reaching beyond the input.
const Case kCases[] = {
    {{3, 5, 8, 6}, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
    {{2, 3, 9, 11}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
    {{1, 5, 10, 7}, {2, 3}, {1, 1}, {1, 1}, {0, 2, 1, 0}, 0, 1},
    {{1, 2, 14, 15}, {3, 2}, {1, 2}, {2, 3}, {2, 0, 2, 1}},
    {{1, 2, 8, 9}, {3, 3}, {2, 3}, {1, 1}, {0, 1, 1, 0}, 1, 1},
    {{1, 2, 9, 9}, {2, 2}, {4, 3}, {1, 1}, {0, 0, 0, 0}},
    {{3, 2, 29}, {4}, {3}, {1}, {1, 2}, 1},
    {{1, 3, 5, 6, 7}, {2, 3, 2}, {1, 2, 2}, {1, 1, 1}, {0, 1, 0, 1, 1, 0}},
};

std::vector<Attr> attrs_of(const Case& c, bool average) {
  std::vector<Attr> attrs{{"kernel_shape", c.kernel, ""},
                          {"strides", c.strides, ""},
                          {"dilations", c.dilations, ""},
                          {"pads", c.pads, ""},
                          {"ceil_mode", c.ceil, ""}};
  if (average) attrs.push_back({"count_include_pad", c.counts_padding, ""});
  return attrs;
}

/// Compares the gradient of a pool, of random dy.
void check(const std::string& pool, const Tensor& x, const std::vector<Attr>& attrs) {
  const Tensor dy = uniform(run_op(pool, {x}, {.attrs = attrs}).dims(), -1, 1, DType::kF32, 2);
  require_as_reference(pool + "Grad", {x, dy}, {.attrs = attrs, .domain = "mlopt"});
}

}  // namespace

TEST_CASE("the gradients of pools give what the reference gives") {
  for (const Case& c : kCases) {
    INFO(to_string(c.x));
    check("MaxPool", uniform(c.x, -1, 1), attrs_of(c, false));
    check("MaxPool", cast(uniform(c.x, -2, 2, DType::kI64), DType::kF32), attrs_of(c, false));  // the first of equals
    check("AveragePool", uniform(c.x, -1, 1), attrs_of(c, true));
  }
}

TEST_CASE("the gradient of a maximum goes to the first NaN, and to infinities") {
  Tensor x = uniform({1, 2, 8, 8}, -1, 1);
  for (const int64_t i : {17, 18, 90, 99}) x.mutable_data<float>()[i] = NAN;
  for (const int64_t i : {3, 4, 64}) x.mutable_data<float>()[i] = INFINITY;
  std::fill_n(x.mutable_data<float>() + 40, 20, -INFINITY);
  check("MaxPool", x, attrs_of(kCases[1], false));
  check("MaxPool", x, attrs_of(kCases[0], false));
}

TEST_CASE("the gradients of pools with the channels innermost give what the reference gives, NaN too") {
  for (const bool average : {false, true})
    for (const int64_t channels : {1, 2, 13, 64})
      for (const auto& [kernel, stride] : {std::pair<int64_t, int64_t>{2, 2}, {3, 1}, {3, 2}}) {
        INFO((average ? "average of " : "maximum of ") << channels << " channels, " << kernel << " taps, " << stride);
        Net net;
        Value* w = net.constant(uniform({channels, 3, 1, 1}, -1, 1));
        Value* x = net.op("Conv", {net.input({2, 3, 21, 18}), w, net.constant(uniform({channels}, 1, 2))});
        x = net.op("Sqrt", {x});  // of negative numbers, too
        const std::vector<Attr> attrs{{"kernel_shape", Ints(2, kernel), ""}, {"strides", Ints(2, stride), ""}};
        const std::string pool = average ? "AveragePool" : "MaxPool";
        Value* dy = net.op("Sigmoid", {net.op(pool, {x}, attrs)});
        const Type type = Type::tensor(DType::kF32, {2, channels, 21, 18});
        net.output(net.op("Neg", add_typed_op(net.graph(), pool + "Grad", {x, dy}, attrs, {type}, "grad")));
        require_same_result(net.model, 1e-5);
      }
}

}  // namespace mlopt::test
