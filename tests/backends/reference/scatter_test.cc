#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

TEST_CASE("ScatterElements writes and accumulates") {
  const Tensor data = tensor({3}, {1, 2, 3}), twice = Tensor::ints({1, -2}), updates = tensor({2}, {5, 7});
  const auto how = [](const char* reduction) { return OpOptions{{attr("reduction", reduction)}}; };
  check_cases({
      {"ScatterElements", {data, twice, updates}, {}, {tensor({3}, {1, 7, 3})}},
      {"Scatter", {data, twice, updates}, {{}, 10}, {tensor({3}, {1, 7, 3})}},
      {"ScatterElements", {data, twice, updates}, how("add"), {tensor({3}, {1, 14, 3})}},
      {"ScatterElements", {data, twice, updates}, how("mul"), {tensor({3}, {1, 70, 3})}},
      {"ScatterElements", {data, twice, updates}, how("min"), {tensor({3}, {1, 2, 3})}},
      {"ScatterElements", {data, twice, updates}, how("max"), {tensor({3}, {1, 7, 3})}},
      {"ScatterElements",
       {tensor({1}, {200}, DType::kU8), Tensor::ints({0}), tensor({1}, {100}, DType::kU8)},
       how("add"),
       {tensor({1}, {44}, DType::kU8)}},
      {"ScatterElements",
       {counting({2, 2}), Tensor::of<int64_t>({2, 1}, {1, 0}), tensor({2, 1}, {8, 9})},
       {{attr("axis", 1)}},
       {tensor({2, 2}, {0, 8, 9, 3})}},
      {"ScatterElements",
       {Tensor::of_strings({2}, {"a", "b"}), Tensor::ints({1}), Tensor::of_strings({1}, {"c"})},
       {},
       {Tensor::of_strings({2}, {"a", "c"})}},
      {"ScatterElements",
       {tensor({3}, {1, 2, 3}, DType::kU4), Tensor::ints({0}), tensor({1}, {15}, DType::kU4)},
       {},
       {tensor({3}, {15, 2, 3}, DType::kU4)}},
  });
  check_errors({
      {"ScatterElements", {data, Tensor::ints({3}), tensor({1}, {0})}, {}, "index 3"},
      {"ScatterElements", {data, twice, tensor({1}, {0})}, {}, "different shapes"},
      {"ScatterElements", {data, twice, tensor({2}, {0, 0}, DType::kF64)}, {}, "different types"},
      {"ScatterElements", {data, twice, updates}, how("xor"), "'xor'"},
  });
}

TEST_CASE("ScatterND writes slices") {
  const Tensor data = counting({2, 2});
  check_cases({
      {"ScatterND",
       {data, Tensor::of<int64_t>({1, 1}, {-1}), tensor({1, 2}, {8, 9})},
       {},
       {tensor({2, 2}, {0, 1, 8, 9})}},
      {"ScatterND",
       {data, Tensor::of<int64_t>({1, 2}, {0, 1}), tensor({1}, {8})},
       {{attr("reduction", "add")}},
       {tensor({2, 2}, {0, 9, 2, 3})}},
      {"ScatterND", {data, Tensor(DType::kI64, {0, 1}), Tensor(DType::kF32, {0, 2})}, {}, {data}},
  });
  check_errors({
      {"ScatterND", {data, Tensor::of<int64_t>({1, 1}, {0}), tensor({1}, {8})}, {}, "shape 1x2"},
      {"ScatterND", {data, Tensor::of<int64_t>({1, 1}, {2}), tensor({1, 2}, {8, 9})}, {}, "index 2"},
  });
}

TEST_CASE("TensorScatter writes into a cache from each sequence's place") {
  const Tensor cache = Tensor::zeros(DType::kF32, {2, 3, 1}), update = tensor({2, 2, 1}, {1, 2, 3, 4});
  check_cases({
      {"TensorScatter", {cache, update, Tensor::ints({1, 0})}, {}, {tensor({2, 3, 1}, {0, 1, 2, 3, 4, 0})}},
      {"TensorScatter", {cache, update}, {}, {tensor({2, 3, 1}, {1, 2, 0, 3, 4, 0})}},
      {"TensorScatter",
       {cache, update, Tensor::ints({2, 1})},
       {{attr("mode", "circular")}},
       {tensor({2, 3, 1}, {2, 0, 1, 0, 3, 4})}},
  });
  check_errors({
      {"TensorScatter", {cache, update, Tensor::ints({2, 0})}, {}, "beyond the cache"},
      {"TensorScatter", {cache, update, Tensor::ints({-1, 0})}, {}, "outside the cache"},
      {"TensorScatter", {cache, tensor({2, 4, 1}, std::vector<double>(8, 0))}, {}, "does not fit"},
  });
}

}  // namespace
}  // namespace mlopt::test
