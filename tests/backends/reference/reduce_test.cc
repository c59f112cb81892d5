#include <algorithm>
#include <cmath>
#include <limits>

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

struct Reduction {
  const char* op;
  double (*formula)(const std::vector<double>&);
};

double sum(const std::vector<double>& v, double (*term)(double)) {
  double total = 0;
  for (const double x : v) total += term(x);
  return total;
}

const Reduction kReductions[] = {
    {"ReduceL1", [](const std::vector<double>& v) { return sum(v, std::fabs); }},
    {"ReduceL2", [](const std::vector<double>& v) { return std::sqrt(sum(v, [](double x) { return x * x; })); }},
    {"ReduceLogSum", [](const std::vector<double>& v) { return std::log(sum(v, [](double x) { return x; })); }},
    {"ReduceLogSumExp", [](const std::vector<double>& v) { return std::log(sum(v, std::exp)); }},
    {"ReduceMax", [](const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }},
    {"ReduceMean",
     [](const std::vector<double>& v) { return sum(v, [](double x) { return x; }) / static_cast<double>(v.size()); }},
    {"ReduceMin", [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }},
    {"ReduceProd",
     [](const std::vector<double>& v) {
       double product = 1;
       for (const double x : v) product *= x;
       return product;
     }},
    {"ReduceSum", [](const std::vector<double>& v) { return sum(v, [](double x) { return x; }); }},
    {"ReduceSumSquare", [](const std::vector<double>& v) { return sum(v, [](double x) { return x * x; }); }},
};

TEST_CASE("reductions over the outer and the inner axis follow their formula", "[reference]") {
  const auto [type, tolerance] = GENERATE(
      table<DType, double>({{DType::kF64, 1e-14}, {DType::kF32, 2e-7}, {DType::kF16, 1e-3}, {DType::kBF16, 8e-3}}));
  const Tensor x = uniform({2, 3, 4}, 0.5, 2, type);
  for (const Reduction& row : kReductions) {
    std::vector<double> expected;
    for (int64_t middle = 0; middle < 3; ++middle) {
      std::vector<double> members;
      for (int64_t i = 0; i < 8; ++i) members.push_back(number_at(x, i / 4 * 12 + middle * 4 + i % 4));
      expected.push_back(row.formula(members));
    }
    INFO(row.op << " in " << name(type));
    const Tensor y = run_op(row.op, {x, Tensor::ints({0, -1})});
    REQUIRE(y.dtype() == type);
    require_close(cast(y, DType::kF64), tensor({1, 3, 1}, expected, DType::kF64), tolerance);
  }
}

TEST_CASE("axes come from an attribute or an input and may be none", "[reference]") {
  const Tensor x = counting({2, 3});
  const std::vector<int64_t> last{1};
  check_cases({
      {"ReduceSum", {x, Tensor::ints({1})}, {{attr("keepdims", 0)}}, {tensor({2}, {3, 12})}},
      {"ReduceSum", {x}, {}, {tensor({1, 1}, {15})}},
      {"ReduceSum", {x}, {{attr("keepdims", 0)}}, {tensor({}, {15})}},
      {"ReduceSum", {x, Tensor::ints({})}, {{attr("noop_with_empty_axes", 1)}}, {x}},
      {"ReduceSumSquare", {x}, {{attr("noop_with_empty_axes", 1)}}, {tensor({2, 3}, {0, 1, 4, 9, 16, 25})}},
      {"ReduceSum", {x}, {{attr("axes", last)}, 11}, {tensor({2, 1}, {3, 12})}},
      {"ReduceMax", {x}, {{attr("axes", last), attr("keepdims", 0)}, 13}, {tensor({2}, {2, 5})}},
      {"ReduceMean", {tensor({}, {3})}, {}, {tensor({}, {3})}},
  });
  check_errors({{"ReduceSum", {x, Tensor::ints({2})}, {}, "axis 2"}});
}

TEST_CASE("reductions of nothing", "[reference]") {
  const double inf = std::numeric_limits<double>::infinity();
  const auto none = [](DType type) { return Tensor(type, {2, 0}); };
  const Tensor axis = Tensor::ints({1});
  check_cases({
      {"ReduceSum", {none(DType::kF32), axis}, {}, {tensor({2, 1}, {0, 0})}},
      {"ReduceProd", {none(DType::kF32), axis}, {}, {tensor({2, 1}, {1, 1})}},
      {"ReduceLogSum", {none(DType::kF32), axis}, {}, {tensor({2, 1}, {-inf, -inf})}},
      {"ReduceLogSumExp", {none(DType::kF32), axis}, {}, {tensor({2, 1}, {-inf, -inf})}},
      {"ReduceMean", {none(DType::kF32), axis}, {}, {tensor({2, 1}, {std::nan(""), std::nan("")})}},
      {"ReduceMax", {none(DType::kF32), axis}, {}, {tensor({2, 1}, {-inf, -inf})}},
      {"ReduceMin", {none(DType::kF16), axis}, {}, {tensor({2, 1}, {inf, inf}, DType::kF16)}},
      {"ReduceMax", {none(DType::kI8), axis}, {}, {tensor({2, 1}, {-128, -128}, DType::kI8)}},
      {"ReduceMin", {none(DType::kU8), axis}, {}, {tensor({2, 1}, {255, 255}, DType::kU8)}},
      {"ReduceMax", {none(DType::kBool), axis}, {}, {tensor({2, 1}, {0, 0}, DType::kBool)}},
      {"ReduceSum", {Tensor(DType::kF32, {0, 2}), axis}, {}, {Tensor(DType::kF32, {0, 1})}},
  });
}

TEST_CASE("reductions of integers, large exponents and NaN", "[reference]") {
  const Tensor axis = Tensor::ints({0});
  const double nan = std::nan("");
  check_cases({
      {"ReduceMean", {tensor({2}, {3, 4}, DType::kI32), axis}, {}, {tensor({1}, {3}, DType::kI32)}},
      {"ReduceMean", {tensor({2}, {-3, -4}, DType::kI32), axis}, {}, {tensor({1}, {-3}, DType::kI32)}},
      {"ReduceMax", {tensor({2}, {0, 1}, DType::kBool), axis}, {}, {tensor({1}, {1}, DType::kBool)}},
      {"ReduceLogSumExp", {tensor({2}, {1000, 1000}), axis}, {}, {tensor({1}, {1000 + std::log(2.0)})}},
      {"ReduceMax", {tensor({3}, {1, nan, 2}), axis}, {}, {tensor({1}, {nan})}},
      {"ReduceMin", {tensor({3}, {1, 2, nan}), axis}, {}, {tensor({1}, {nan})}},
  });
  check_errors({{"ReduceSum", {Tensor::of_strings({1}, {"a"})}, {}, "does not take string"}});
}

}  // namespace
}  // namespace mlopt::test
