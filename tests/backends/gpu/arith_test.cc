#include "core/base/error.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/one_node.h"
#include "tests/support/thrown.h"

namespace mlopt::test {

TEST_CASE("arithmetic on a GPU broadcasts as the reference does") {
  const std::pair<Dims, Dims> cases[] = {{{5}, {5}},        {{3, 1, 7}, {1, 4, 7}}, {{2, 3, 4, 5}, {3, 1, 1}},
                                         {{1}, {2, 19}},    {{17, 1}, {1, 23}},     {{}, {}},
                                         {{128, 30}, {30}}, {{128, 30}, {128, 1}},  {{2, 1, 3, 1}, {4, 1, 5}}};
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Pow", "Max", "Min"})
    for (const auto& [a, b] : cases) {
      INFO(op << " of " << to_string(a) << " and " << to_string(b));
      const Tensor x = uniform(a, 0.5, 3), y = uniform(b, 0.5, 3, DType::kF32, 2);
      require_on_gpu(op, {x, y});
      require_on_gpu(op, {y, x});
    }
  require_on_gpu("PRelu", {uniform({2, 3, 5, 7}, -3, 3), uniform({3, 1, 1}, -1, 1)});
  require_on_gpu("Sum", {uniform({2, 1, 5}, -3, 3), uniform({3, 1}, -1, 1), uniform({5}, 0, 1)});
}

TEST_CASE("integers, halves and remainders on a GPU") {
  const Tensor i = tensor({6}, {-7, 7, -7, 7, 6, 1}, DType::kI64), j = tensor({6}, {3, 3, -3, -3, 2, 5}, DType::kI64);
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Mod"}) require_on_gpu(op, {i, j});
  require_on_gpu("Mod", {i, j}, {.attrs = {attr("fmod", 1)}});
  require_on_gpu("Pow", {i, tensor({}, {3}, DType::kI64)});
  const Tensor f = tensor({4}, {-7.5, 7.5, -7.5, 7.5}), g = tensor({4}, {2, 2, -2, -2});
  require_on_gpu("Mod", {f, g}, {.attrs = {attr("fmod", 1)}});
  for (const DType half : {DType::kF16, DType::kBF16})
    require_on_gpu("Mul", {uniform({7, 9}, -2, 2, half), uniform({9}, -2, 2, half, 2)}, {}, 1e-2);
}

TEST_CASE("integers divided by zero are errors on a GPU that name the node") {
  for (const DType type : {DType::kI64, DType::kI32, DType::kU8}) {
    const Tensor x = tensor({2}, {7, 0}, type), good = tensor({2}, {1, 2}, type), bad = tensor({2}, {3, 0}, type);
    for (const char* op : {"Div", "Mod"}) {
      INFO(op << name(type));
      const auto plan = gpu_on_host()->compile(one_node(op, {x, good}, {}, 2), {});
      for (int time = 0; time < 3; ++time) {
        CHECK(plan->run(std::vector<Datum>{x, good}).size() == 1);
        const Error e = thrown_by([&] { plan->run(std::vector<Datum>{x, bad}); });
        CHECK(e.code == Code::kBadInput);
        CHECK(e.message == "integer division by zero");
        CHECK(e.where.find(op) != std::string::npos);
      }
    }
  }
  require_on_gpu("Div", {tensor({3}, {1, -1, 0}), tensor({}, {0})});
}

TEST_CASE("comparisons and choices on a GPU") {
  const Tensor a = tensor({2, 3}, {1, 2, 3, NAN, -0.0, 6}), b = tensor({3}, {2, 2, 0});
  for (const char* op : {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"}) require_on_gpu(op, {a, b});
  require_on_gpu("IsNaN", {a});
  const Tensor p = tensor({4}, {0, 0, 1, 1}, DType::kBool), q = tensor({4}, {0, 1, 0, 1}, DType::kBool);
  for (const char* op : {"And", "Or", "Xor", "Equal"}) require_on_gpu(op, {p, q});
  require_on_gpu("Not", {p});
  require_on_gpu("Where", {q, uniform({3, 4}, 0, 1), uniform({3, 1}, 2, 3)});
  require_on_gpu("Where", {q, counting({4}, DType::kI64), counting({1}, DType::kI64)});
}

TEST_CASE("means, limits and infinities on a GPU") {
  const Tensor x = tensor({2, 3}, {1, -INFINITY, 3, NAN, INFINITY, 6});
  require_on_gpu("Mean", {uniform({2, 1, 5}, -3, 3), uniform({3, 1}, -1, 1), uniform({5}, 0, 1)});
  for (const char* op : {"Mean", "Sum", "Max"}) require_on_gpu(op, {uniform({4}, -3, 3)});
  require_on_gpu("Clip", {x, tensor({}, {-1}), tensor({}, {2})});
  require_on_gpu("Clip", {x, tensor({}, {2}), tensor({}, {-2})});
  require_on_gpu("Clip", {counting({7}, DType::kI64), tensor({}, {2}, DType::kI64), tensor({}, {5}, DType::kI64)});
  require_on_gpu("IsInf", {x});
  require_on_gpu("IsInf", {x}, {.attrs = {attr("detect_negative", 0)}});
  require_on_gpu("IsInf", {x}, {.attrs = {attr("detect_positive", 0)}});
}

TEST_CASE("sums and means of halves on a GPU overflow only at the end") {
  const auto half = [](double x) { return tensor({2}, {x, 1}, DType::kF16); };
  require_on_gpu("Mean", {half(60000), half(50000)});
  require_on_gpu("Sum", {half(60000), half(50000), half(-60000)});
  std::vector<Datum> many;
  for (int k = 0; k < 20; ++k)
    many.emplace_back(uniform({k % 2 ? 3 : 1, 5}, -1, 1, DType::kF32, static_cast<uint64_t>(k)));
  for (const char* op : {"Mean", "Sum"}) require_on_gpu(op, many);
}

TEST_CASE("NaN wins the larger and the smaller on a GPU") {
  const Tensor a = tensor({4}, {NAN, 1, NAN, INFINITY}), b = tensor({4}, {1, NAN, NAN, 2});
  for (const char* op : {"Max", "Min", "Add"}) require_on_gpu(op, {a, b});
}

TEST_CASE("what a GPU does not compute names the node") {
  const std::unique_ptr<Backend> gpu = gpu_on_host();
  const Tensor d = uniform({3}, 0, 1, DType::kF64);
  CHECK_THROWS_AS(run_op("Add", {d, d}, {.backend = gpu.get()}), Error);
  const std::unique_ptr<Backend> with_host = gpu_on_host(true);
  require_close(run_op("Add", {d, d}, {.backend = with_host.get()}), run_op("Add", {d, d}));
}

}  // namespace mlopt::test
