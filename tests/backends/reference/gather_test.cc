#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

Tensor table(Dims dims, const std::vector<double>& values) { return tensor(std::move(dims), values); }

TEST_CASE("Gather replaces an axis by indices") {
  const Tensor data = counting({2, 3}), words = Tensor::of_strings({3}, {"a", "b", "c"});
  check_cases({
      {"Gather", {data, Tensor::ints({1, -2, 1})}, {}, {table({3, 3}, {3, 4, 5, 0, 1, 2, 3, 4, 5})}},
      {"Gather", {data, tensor({1, 2}, {2, -3}, DType::kI32)}, {{attr("axis", 1)}}, {table({2, 1, 2}, {2, 0, 5, 3})}},
      {"Gather", {data, Tensor::scalar<int64_t>(1)}, {{attr("axis", -1)}}, {table({2}, {1, 4})}},
      {"Gather", {words, Tensor::ints({-1, 0})}, {}, {Tensor::of_strings({2}, {"c", "a"})}},
      {"Gather", {tensor({3}, {-1, 0, 1}, DType::kI2), Tensor::ints({2, 0})}, {}, {tensor({2}, {1, -1}, DType::kI2)}},
      {"Gather", {data, Tensor::ints({})}, {}, {Tensor(DType::kF32, {0, 3})}},
  });
  check_errors({
      {"Gather", {data, Tensor::ints({2})}, {}, "index 2"},
      {"Gather", {data, Tensor::ints({-3})}, {}, "index -3"},
      {"Gather", {Tensor(DType::kF32, {0}), Tensor::ints({0})}, {}, "index 0"},
      {"Gather", {data, tensor({1}, {0})}, {}, "float32"},
      {"Gather", {counting({}), Tensor::ints({0})}, {}, "axis 0"},
  });
}

TEST_CASE("GatherElements and GatherND address single elements and slices") {
  const Tensor data = counting({2, 2});
  const Tensor pairs = Tensor::of<int64_t>({2, 2}, {0, 0, 1, -1});
  check_cases({
      {"GatherElements", {data, Tensor::of<int64_t>({1, 2}, {1, 0})}, {}, {table({1, 2}, {2, 1})}},
      {"GatherElements", {data, Tensor::of<int64_t>({2, 1}, {-1, 0})}, {{attr("axis", 1)}}, {table({2, 1}, {1, 2})}},
      {"GatherND", {data, pairs}, {}, {table({2}, {0, 3})}},
      {"GatherND", {data, Tensor::of<int64_t>({2, 1}, {1, 0})}, {}, {table({2, 2}, {2, 3, 0, 1})}},
      {"GatherND", {data, Tensor::of<int64_t>({2, 1}, {1, 0})}, {{attr("batch_dims", 1)}}, {table({2}, {1, 2})}},
      {"GatherND", {data, Tensor(DType::kI64, {0, 2})}, {}, {Tensor(DType::kF32, {0})}},
  });
  check_errors({
      {"GatherElements", {data, Tensor::of<int64_t>({1, 3}, {0, 0, 0})}, {}, "larger than the data"},
      {"GatherElements", {data, Tensor::ints({0})}, {}, "same rank"},
      {"GatherND", {data, Tensor::of<int64_t>({1, 3}, {0, 0, 0})}, {}, "more axes"},
      {"GatherND", {data, Tensor::of<int64_t>({1, 2}, {0, 2})}, {}, "index 2"},
      {"GatherND", {data, Tensor::of<int64_t>({1, 1}, {0})}, {{attr("batch_dims", 1)}}, "batch axes"},
  });
}

TEST_CASE("Compress and NonZero pick by value") {
  const Tensor data = counting({2, 3}), mask = tensor({2}, {0, 1}, DType::kBool);
  check_cases({
      {"Compress", {data, mask}, {{attr("axis", 0)}}, {table({1, 3}, {3, 4, 5})}},
      {"Compress", {data, mask}, {{attr("axis", -1)}}, {table({2, 1}, {1, 4})}},
      {"Compress", {data, tensor({5}, {1, 0, 0, 0, 1}, DType::kBool)}, {}, {table({2}, {0, 4})}},
      {"NonZero", {tensor({2, 2}, {0, 2, -0.0, -1})}, {}, {Tensor::of<int64_t>({2, 2}, {0, 1, 1, 1})}},
      {"NonZero", {tensor({}, {3}, DType::kI8)}, {}, {Tensor(DType::kI64, {0, 1})}},
      {"NonZero", {tensor({3}, {0, 1, 1}, DType::kBool)}, {}, {Tensor::of<int64_t>({1, 2}, {1, 2})}},
  });
  check_errors({{"Compress", {data, tensor({3}, {1, 1, 1}, DType::kBool)}, {{attr("axis", 0)}}, "no longer"}});
}

}  // namespace
}  // namespace mlopt::test
