#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

struct Case {
  Dims x;
  Ints kernel, strides, dilations, pads;
  int64_t ceil = 0;
};

// Odd sizes, one to three axes, paddings that differ between the sides, windows that reach beyond the input.
const Case kCases[] = {
    {{2, 3, 9, 11}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
    {{1, 5, 10, 7}, {2, 3}, {1, 1}, {1, 1}, {0, 2, 1, 0}},
    {{1, 2, 14, 15}, {3, 2}, {1, 2}, {2, 3}, {2, 0, 2, 1}},
    {{1, 2, 8, 9}, {3, 3}, {2, 3}, {1, 1}, {0, 1, 1, 0}, 1},
    {{1, 4, 7, 7}, {7, 7}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {{3, 2, 29}, {4}, {3}, {1}, {1, 2}, 1},
    {{1, 3, 5, 6, 7}, {2, 3, 2}, {1, 2, 2}, {1, 1, 1}, {0, 1, 0, 1, 1, 0}},
    {{1, 1, 1, 40}, {1, 5}, {1, 1}, {1, 1}, {0, 2, 0, 2}},
    // Rows that are long enough to be folded one by one.
    {{1, 2, 6, 300}, {3, 2}, {1, 2}, {1, 1}, {1, 0, 1, 1}},
    {{2, 2, 3, 5, 270}, {2, 3, 3}, {1, 2, 1}, {1, 1, 2}, {0, 1, 2, 1, 1, 2}},
    // As many planes out as in, but not the same ones: the first lies in the padding.
    {{1, 2, 3, 4, 5}, {1, 2, 2}, {2, 1, 1}, {1, 1, 1}, {1, 0, 0, 2, 0, 0}},
    // Nothing is pooled along the innermost axes.
    {{2, 3, 12, 5, 6}, {5, 1, 1}, {1, 1, 1}, {1, 1, 1}, {2, 0, 0, 2, 0, 0}},
    {{1, 2, 11, 90}, {3, 1}, {2, 1}, {2, 1}, {1, 0, 0, 0}},
    {{1, 2, 6, 9, 1}, {2, 3, 1}, {1, 2, 1}, {1, 1, 1}, {0, 1, 0, 1, 1, 0}, 1},
    {{1, 3, 4, 5}, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    // Rounded up, a window reaches over the end of an axis that is shorter.
    {{1, 2, 1, 5}, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, 1},
};

std::vector<Attr> attrs_of(const Case& c) {
  return {{"kernel_shape", c.kernel, ""},
          {"strides", c.strides, ""},
          {"dilations", c.dilations, ""},
          {"pads", c.pads, ""},
          {"ceil_mode", c.ceil, ""}};
}

}  // namespace

TEST_CASE("MaxPool gives what the reference gives") {
  for (const Case& c : kCases) {
    INFO(to_string(c.x));
    require_as_reference("MaxPool", {uniform(c.x, -9, -1)}, {.attrs = attrs_of(c)}, 0);
    require_as_reference("MaxPool", {uniform(c.x, 0, 255, DType::kU8)}, {.attrs = attrs_of(c)}, 0);
    require_as_reference("MaxPool", {uniform(c.x, -128, 127, DType::kI8)}, {.attrs = attrs_of(c)}, 0);
  }
}

TEST_CASE("AveragePool gives what the reference gives") {
  for (const Case& c : kCases)
    for (const int64_t include : {0, 1}) {
      INFO(to_string(c.x) << " padding counted " << include);
      std::vector<Attr> attrs = attrs_of(c);
      attrs.push_back({"count_include_pad", include, ""});
      require_as_reference("AveragePool", {uniform(c.x, -1, 3)}, {.attrs = attrs}, 1e-6);
    }
}

TEST_CASE("pools resolve automatic padding and keep NaN") {
  Tensor x = uniform({1, 2, 7, 8}, -1, 1);
  x.mutable_data<float>()[17] = std::nanf("");
  for (const char* op : {"MaxPool", "AveragePool"})
    for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"})
      require_as_reference(op, {x},
                           {.attrs = {{"kernel_shape", Ints{3, 2}, ""},
                                      {"strides", Ints{2, 2}, ""},
                                      {"auto_pad", std::string(mode), ""}}},
                           1e-6);
}

TEST_CASE("pools with the channels innermost give what the reference gives, NaN too") {
  for (const char* op : {"MaxPool", "AveragePool"})
    for (const int64_t channels : {1, 2, 13, 64})
      for (const auto& [kernel, stride] : {std::pair<int64_t, int64_t>{2, 2}, {3, 1}, {3, 2}, {9, 1}}) {
        INFO(op << " of " << channels << " channels, " << kernel << " taps, stride " << stride);
        Net net;
        Value* w = net.constant(uniform({channels, 3, 1, 1}, -1, 1));
        Value* x = net.op("Conv", {net.input({2, 3, 21, 18}), w, net.constant(uniform({channels}, 1, 2))});
        x = net.op(op, {net.op("Sqrt", {x})},  // of negative numbers, too
                   {{"kernel_shape", Ints(2, kernel), ""},
                    {"strides", Ints(2, stride), ""},
                    {"pads", Ints{kernel / 2, 0, kernel / 2, 1}, ""}});
        net.output(net.op("Relu", {x}));
        require_same_result(net.model, 1e-5);
      }
}

}  // namespace mlopt::test
