#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

struct Case {
  std::vector<int64_t> in, kernel, strides, dilations, pads;
  bool ceil = false;
};

/// fn(values under the window, how many of its elements lie on the padded input) for each output of a 2-D pool.
Tensor plain_pool(const Case& c, const Tensor& x,
                  const std::function<double(const std::vector<double>&, int64_t)>& fn) {
  const std::vector<double> xs = to_doubles(x);
  std::vector<int64_t> out(2);
  for (size_t a = 0; a < 2; ++a) {
    const int64_t room = c.in[a] + c.pads[a] + c.pads[a + 2] - (c.kernel[a] - 1) * c.dilations[a] - 1;
    out[a] = room / c.strides[a] + 1;
    // With ceil_mode another window, unless it would start in the padding at the end.
    if (c.ceil && room % c.strides[a] != 0 && out[a] * c.strides[a] < c.in[a] + c.pads[a]) ++out[a];
  }
  std::vector<double> y;
  for (int64_t plane = 0; plane < x.dim(0) * x.dim(1); ++plane)
    for (int64_t i = 0; i < out[0]; ++i)
      for (int64_t j = 0; j < out[1]; ++j) {
        std::vector<double> seen;
        int64_t padded = 0;
        for (int64_t p = 0; p < c.kernel[0]; ++p)
          for (int64_t q = 0; q < c.kernel[1]; ++q) {
            const int64_t r = i * c.strides[0] - c.pads[0] + p * c.dilations[0];
            const int64_t s = j * c.strides[1] - c.pads[1] + q * c.dilations[1];
            padded += r < c.in[0] + c.pads[2] && s < c.in[1] + c.pads[3];
            if (r >= 0 && r < c.in[0] && s >= 0 && s < c.in[1])
              seen.push_back(xs[static_cast<size_t>((plane * c.in[0] + r) * c.in[1] + s)]);
          }
        y.push_back(fn(seen, padded));
      }
  return tensor({x.dim(0), x.dim(1), out[0], out[1]}, y, x.dtype());
}

std::vector<Attr> attributes(const Case& c) {
  return {{"kernel_shape", c.kernel, ""},
          {"strides", c.strides, ""},
          {"dilations", c.dilations, ""},
          {"pads", c.pads, ""},
          {"ceil_mode", int64_t{c.ceil}, ""}};
}

const Case kCases[] = {
    {{5, 6}, {2, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}},       {{7, 6}, {3, 2}, {2, 3}, {1, 2}, {1, 0, 0, 1}},
    {{7, 8}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, true}, {{8, 5}, {2, 3}, {3, 2}, {2, 1}, {0, 2, 1, 0}, true},
    {{4, 4}, {3, 3}, {3, 3}, {1, 1}, {0, 0, 2, 2}, true},  // the last window is left out
};

double largest(const std::vector<double>& v, int64_t) {
  double best = -std::numeric_limits<double>::infinity();
  for (const double x : v) best = std::max(best, x);
  return best;
}

double sum(const std::vector<double>& v) {
  double total = 0;
  for (const double x : v) total += x;
  return total;
}

}  // namespace

TEST_CASE("MaxPool equals its definition") {
  for (const Case& c : kCases) {
    INFO("case " << &c - kCases);
    for (const DType type : {DType::kF32, DType::kF64, DType::kF16, DType::kI8, DType::kU8}) {
      const Tensor x = uniform({2, 3, c.in[0], c.in[1]}, type == DType::kU8 ? 0 : -100, 100, type);
      require_close(run_op("MaxPool", {x}, {.attrs = attributes(c)}), plain_pool(c, x, largest), 0);
    }
  }
}

TEST_CASE("pools without padding round places up as well") {
  const Case c{{8, 6}, {3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}, true};
  std::vector<Attr> attrs = attributes(c);
  std::erase_if(attrs, [](const Attr& a) { return a.name == "pads"; });
  attrs.push_back({"auto_pad", std::string("VALID"), ""});
  const Tensor x = uniform({2, 3, 8, 6}, -1, 1);
  require_close(run_op("MaxPool", {x}, {.attrs = attrs}), plain_pool(c, x, largest), 0);
  const auto mean = [](const std::vector<double>& v, int64_t) { return sum(v) / static_cast<double>(v.size()); };
  require_close(run_op("AveragePool", {x}, {.attrs = attrs}), plain_pool(c, x, mean));
}

TEST_CASE("rounded up, a window may be larger than the input by less than a stride") {
  const std::vector<Attr> attrs{{"kernel_shape", std::vector<int64_t>{2}, ""},
                                {"strides", std::vector<int64_t>{2}, ""},
                                {"ceil_mode", int64_t{1}, ""}};
  for (const char* op : {"MaxPool", "AveragePool"})  // as ONNX Runtime has it
    require_close(run_op(op, {tensor({1, 1, 1}, {7})}, {.attrs = attrs}), tensor({1, 1, 1}, {7}));
  std::vector<Attr> wide = attrs;
  wide[0].value = std::vector<int64_t>{3};
  CHECK(error_of("MaxPool", {tensor({1, 1, 1}, {7})}, {.attrs = wide}).find("does not fit") != std::string::npos);
}

TEST_CASE("MaxPool tells where the largest element was") {
  const Tensor x = tensor({1, 2, 2, 3}, {1, 5, 5, 2, 0, 9, -1, -4, -2, -9, -1, -3});
  const auto indices = [&](int64_t order) {
    return run_node("MaxPool", {x},
                    {.attrs = {{"kernel_shape", std::vector<int64_t>{2, 2}, ""}, {"storage_order", order, ""}},
                     .outputs = 2})[1]
        .tensor();
  };
  require_close(indices(0), tensor({1, 2, 1, 2}, {1, 5, 6, 10}, DType::kI64));
  require_close(indices(1), tensor({1, 2, 1, 2}, {2, 5, 6, 9}, DType::kI64));  // rows fastest
}

TEST_CASE("AveragePool counts padding only when asked to") {
  for (const Case& c : kCases) {
    INFO("case " << &c - kCases);
    const Tensor x = uniform({2, 3, c.in[0], c.in[1]}, -1, 1, DType::kF32);
    std::vector<Attr> attrs = attributes(c);
    const auto of_seen = [](const std::vector<double>& v, int64_t) { return sum(v) / static_cast<double>(v.size()); };
    require_close(run_op("AveragePool", {x}, {.attrs = attrs}), plain_pool(c, x, of_seen));
    attrs.push_back({"count_include_pad", int64_t{1}, ""});
    const auto of_all = [](const std::vector<double>& v, int64_t padded) {
      return sum(v) / static_cast<double>(padded);
    };
    require_close(run_op("AveragePool", {x}, {.attrs = attrs}), plain_pool(c, x, of_all));
  }
}

TEST_CASE("LpPool gives norms") {
  for (const Case& c : kCases) {
    const Tensor x = uniform({2, 1, c.in[0], c.in[1]}, -1, 1, DType::kF64);
    for (const int64_t p : {1, 2, 3}) {
      std::vector<Attr> attrs = attributes(c);
      attrs.push_back({"p", p, ""});
      const auto norm = [&](const std::vector<double>& v, int64_t) {
        double total = 0;
        for (const double e : v) total += std::pow(std::abs(e), static_cast<double>(p));
        return std::pow(total, 1.0 / static_cast<double>(p));
      };
      require_close(run_op("LpPool", {x}, {.attrs = attrs}), plain_pool(c, x, norm), 1e-13);
    }
  }
  require_close(run_op("GlobalLpPool", {tensor({1, 1, 2}, {3, -4})}, {.attrs = {{"p", 2.0F, ""}}, .opset = 1}),
                tensor({1, 1, 1}, {5}));
}

TEST_CASE("global pools reduce all spatial axes") {
  const Tensor x = tensor({1, 2, 2, 2}, {1, 2, 3, 6, -1, -2, -3, -4});
  require_close(run_op("GlobalAveragePool", {x}), tensor({1, 2, 1, 1}, {3, -2.5}));
  require_close(run_op("GlobalMaxPool", {x}), tensor({1, 2, 1, 1}, {6, -1}));
  require_close(run_op("GlobalLpPool", {x}), tensor({1, 2, 1, 1}, {std::sqrt(50), std::sqrt(30)}));
}

TEST_CASE("pools refuse windows that make no sense") {
  const Tensor x = uniform({1, 1, 4}, -1, 1);
  error_of("MaxPool", {x});
  error_of("MaxPool", {x}, {.attrs = {{"kernel_shape", std::vector<int64_t>{2, 2}, ""}}});
  CHECK(error_of("MaxPool", {x}, {.attrs = {{"kernel_shape", std::vector<int64_t>{5}, ""}}}).find("does not fit") !=
        std::string::npos);
  error_of("MaxPool", {x}, {.attrs = {{"kernel_shape", std::vector<int64_t>{0}, ""}}});
  error_of("LpPool", {x}, {.attrs = {{"kernel_shape", std::vector<int64_t>{2}, ""}, {"p", int64_t{0}, ""}}});
  error_of("AveragePool", {uniform({2, 3}, -1, 1)}, {.attrs = {{"kernel_shape", std::vector<int64_t>{}, ""}}});
}

}  // namespace mlopt::test
