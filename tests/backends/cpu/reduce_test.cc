#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

// Sums of up to 5000 numbers below 3, in another order than the reference's.
constexpr double kTolerance = 1e-5;

}  // namespace

TEST_CASE("reductions over any axes give what the reference gives") {
  struct Case {
    Dims x;
    Ints axes;
  };
  const Case cases[] = {{{4, 5, 6}, {2}},       {{4, 5, 6}, {0}},          {{4, 5, 6}, {1}}, {{4, 5, 6}, {0, 2}},
                        {{4, 5, 6}, {-2, -1}},  {{2, 3, 4, 5, 6}, {1, 3}}, {{7}, {0}},       {{2, 3, 17, 19}, {2, 3}},
                        {{1, 1, 1}, {0, 1, 2}}, {{3, 1, 1031}, {0, 1}},    {{2, 5003}, {1}}, {{3, 4, 5}, {}}};
  for (const char* op :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare"})
    for (const Case& c : cases)
      for (const int64_t keep : {0, 1}) {
        INFO(op << " of " << to_string(c.x) << " over " << c.axes.size() << " axes, keepdims " << keep);
        std::vector<Attr> attrs{{"keepdims", keep, ""}};
        if (!c.axes.empty()) attrs.push_back({"axes", c.axes, ""});
        require_as_reference(op, {uniform(c.x, -1, 3)}, {.attrs = attrs, .opset = 11}, kTolerance);
      }
}

TEST_CASE("products, and logarithms of sums, over any axes give what the reference gives") {
  for (const char* op : {"ReduceProd", "ReduceLogSum", "ReduceLogSumExp"})
    for (const Dims& x : {Dims{4, 5, 6}, Dims{3, 1, 1031}, Dims{2, 3, 4, 5, 6}, Dims{2, 5003}})
      for (const Ints& axes : {Ints{0}, Ints{1}, Ints{-1}, Ints{0, -1}}) {
        INFO(op << " of " << to_string(x) << " over " << axes.size() << " axes, the first " << axes[0]);
        const std::vector<Attr> attrs{{"axes", axes, ""}};
        // Products of up to 10,006 numbers stay within what float32 holds.
        const bool product = std::string(op) == "ReduceProd";
        require_as_reference(op, {uniform(x, product ? 0.99 : 0.1, product ? 1.01 : 3)}, {.attrs = attrs, .opset = 11},
                             product ? 2e-4 : kTolerance);
      }
}

TEST_CASE("exponentials neither overflow nor lose infinities and NaN") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x =
      tensor({6, 3}, {900, 901, 899, -900, -901, -899, -inf, 1, 2, -inf, -inf, -inf, inf, 3, 4, std::nan(""), inf, 0});
  for (const int64_t axis : {0, 1}) {
    const OpOptions options{.attrs = {{"axes", Ints{axis}, ""}}, .opset = 11};
    require_as_reference("ReduceLogSumExp", {x}, options, kTolerance);
    require_as_reference("ReduceLogSumExp", {tensor({2, 2}, {900, -inf, 901, -inf})}, options, kTolerance);
  }
}

TEST_CASE("global pools give what the reference gives") {
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool"})
    for (const Dims& x : {Dims{2, 3, 7, 7}, Dims{1, 5, 33}, Dims{1, 2, 3, 4, 5}})
      require_as_reference(op, {uniform(x, -3, 1)}, {}, kTolerance);
}

TEST_CASE("rows of few numbers") {
  Tensor x = uniform({50, 3}, -2, 2);
  x.mutable_data<float>()[40] = std::nanf("");
  x.mutable_data<float>()[63] = -std::numeric_limits<float>::infinity();
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceProd"})
    for (const int64_t length : {1, 2, 3, 8, 9}) {
      INFO(op << " of rows of " << length);
      const OpOptions options{.attrs = {{"axes", Ints{-1}, ""}}, .opset = 11};
      require_as_reference(op, {x}, options, kTolerance);
      require_as_reference(op, {uniform({70, length}, -2, 2)}, options, kTolerance);
    }
}

TEST_CASE("the maximum of numbers and NaN is NaN") {
  Tensor x = uniform({3, 40}, -1, 1);
  x.mutable_data<float>()[50] = std::nanf("");
  for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum"})
    for (const int64_t axis : {0, 1})
      require_as_reference(op, {x}, {.attrs = {{"axes", Ints{axis}, ""}}, .opset = 11}, kTolerance);
}

TEST_CASE("axes may be an input, and then constant") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const Tensor x = uniform({3, 4}, 0, 1), axes = Tensor::ints({1});
  for (const bool fixed : {false, true})
    require_close(run_op("ReduceSum", {x, axes}, {.fixed = fixed, .backend = cpu.get()}),
                  run_op("ReduceSum", {x, axes}), kTolerance);
}

TEST_CASE("sums of long columns are as exact as those of rows") {
  // In float32 each addition to a large sum is rounded in the same direction.
  const Tensor x = Tensor::of<float>({200000, 2}, std::vector<float>(400000, 0.1F));
  for (const char* op :
       {"ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
    INFO(op);
    require_as_reference(op, {x}, {.attrs = {{"axes", Ints{0}, ""}}, .opset = 11}, kTolerance);
  }
}

}  // namespace mlopt::test
