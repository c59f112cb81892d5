#include "core/base/error.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/one_node.h"

namespace mlopt::test {

TEST_CASE("running sums on a GPU") {
  for (const int exclusive : {0, 1})
    for (const int reverse : {0, 1}) {
      const OpOptions options{.attrs = {attr("exclusive", exclusive), attr("reverse", reverse)}, .fixed = true};
      for (const int64_t axis : {0, 1, -1})
        require_on_gpu("CumSum", {uniform({3, 5, 300}, -1, 1), Tensor::ints({axis}).reshaped({})}, options);
      require_on_gpu("CumSum", {counting({40}, DType::kI64), Tensor::ints({0}).reshaped({})}, options, 0);
    }
}

TEST_CASE("running products on a GPU") {
  for (const int exclusive : {0, 1})
    for (const int reverse : {0, 1}) {
      const OpOptions options{
          .attrs = {attr("exclusive", exclusive), attr("reverse", reverse)}, .opset = 26, .fixed = true};
      for (const int64_t axis : {0, 1, -1})
        require_on_gpu("CumProd", {uniform({3, 5, 300}, 0.9, 1.1), Tensor::ints({axis}).reshaped({})}, options);
      require_on_gpu("CumProd", {uniform({12}, 1, 4, DType::kI32), Tensor::ints({0}).reshaped({})}, options, 0);
    }
}

TEST_CASE("what is divided by its neighbours on a GPU") {
  for (const int size : {1, 2, 5}) {
    require_on_gpu("LRN", {uniform({2, 7, 3, 4}, -3, 3)},
                   {.attrs = {attr("size", size), attr("alpha", 0.3f), attr("beta", 0.6f), attr("bias", 1.5f)}});
    require_on_gpu("LRN", {uniform({2, 4}, -3, 3)}, {.attrs = {attr("size", size)}});
  }
}

TEST_CASE("sequences in reverse order on a GPU") {
  const Tensor x = counting({4, 3, 5}), lengths = tensor({3}, {2, 4, 0}, DType::kI64);
  require_on_gpu("ReverseSequence", {x, lengths}, {}, 0);
  require_on_gpu("ReverseSequence", {x, tensor({4}, {3, 1, 2, 0}, DType::kI64)},
                 {.attrs = {attr("batch_axis", 0), attr("time_axis", 1)}}, 0);
}

TEST_CASE("lengths beyond the time of a sequence are errors on a GPU") {
  for (const double length : {-1, 5}) {
    const std::vector<Datum> inputs{counting({4, 2}), tensor({2}, {4, length}, DType::kI64)};
    const auto plan = gpu_on_host()->compile(one_node("ReverseSequence", inputs, {}, 2), {});
    CHECK_THROWS_AS(plan->run(inputs), Error);
  }
}

TEST_CASE("determinants on a GPU") {
  for (const int64_t n : {1, 2, 3, 7}) require_on_gpu("Det", {uniform({2, 3, n, n}, -2, 2)}, {}, 1e-4);
  require_on_gpu("Det", {tensor({2, 2}, {0, 1, 1, 0})}, {}, 0);
  require_on_gpu("Det", {tensor({2, 2}, {1, 2, 2, 4})}, {}, 0);
}

TEST_CASE("ones along a diagonal on a GPU") {
  for (const int k : {-5, -2, 0, 1, 4, 9})
    for (const DType type : {DType::kF32, DType::kF16, DType::kI64, DType::kBool})
      require_on_gpu("EyeLike", {counting({4, 6})}, {.attrs = {attr("k", k), attr("dtype", static_cast<int>(type))}},
                     0);
  require_on_gpu("EyeLike", {counting({3, 3}, DType::kI32)}, {}, 0);
}

TEST_CASE("lines over their length on a GPU") {
  for (const int p : {1, 2})
    for (const int axis : {0, 1, -1})
      require_on_gpu("LpNormalization", {uniform({3, 5, 300}, -1, 1)}, {.attrs = {attr("p", p), attr("axis", axis)}});
  require_on_gpu("LpNormalization", {tensor({2, 2}, {0, 0, 3, 4})});
}

TEST_CASE("triangles on a GPU") {
  for (const int upper : {0, 1}) {
    const OpOptions options{.attrs = {attr("upper", upper)}};
    require_on_gpu("Trilu", {counting({2, 3, 4})}, options, 0);
    for (const int64_t k : {-7, -1, 0, 2, 9})
      require_on_gpu("Trilu", {counting({2, 4, 3}, DType::kI64), Tensor::ints({k}).reshaped({})}, options, 0);
  }
}

}  // namespace mlopt::test
