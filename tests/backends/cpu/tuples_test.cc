#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

OpOptions batches(int64_t axes) { return {.attrs = {{"batch_dims", axes, ""}}}; }

}  // namespace

TEST_CASE("blocks and elements by tuples of every length, from either end") {
  for (const DType type : {DType::kF32, DType::kI64, DType::kU8, DType::kF16})
    for (const int64_t length : {1, 2, 3}) {
      const Tensor x = uniform({4, 5, 6}, 0, 90, type);
      require_as_reference("GatherND", {x, uniform({40, length}, -4, 3.9, DType::kI64)}, batches(0), 0);
      require_as_reference("GatherND", {x, uniform({2, 3, length}, -4, 3.9, DType::kI64)}, batches(0), 0);
    }
  require_as_reference("GatherND", {uniform({90, 3000}, -1, 1), uniform({900, 1}, 0, 89, DType::kI64)}, batches(0), 0);
}

TEST_CASE("tuples for each of a batch") {
  for (const int64_t length : {1, 2}) {
    const Tensor x = uniform({3, 2, 5, 4}, -1, 1);
    require_as_reference("GatherND", {x, uniform({3, 7, length}, 0, 1.9, DType::kI64)}, batches(1), 0);
    require_as_reference("GatherND", {x, uniform({3, 2, 7, length}, 0, 3.9, DType::kI64)}, batches(2), 0);
  }
}

TEST_CASE("blocks and elements are filled by tuples of every length, the last of equal ones stays") {
  for (const DType type : {DType::kF32, DType::kI64, DType::kU8, DType::kF16})
    for (const int64_t length : {1, 2, 3}) {
      const Tensor x = uniform({4, 5, 6}, 0, 90, type);
      Dims each = {40};
      each.insert(each.end(), x.dims().begin() + length, x.dims().end());
      const Tensor places = uniform({40, length}, -4, 3.9, DType::kI64);
      require_as_reference("ScatterND", {x, places, uniform(each, 0, 90, type)}, {}, 0);
    }
  const Tensor places = uniform({3, 2, 1}, 0, 89, DType::kI64);
  require_as_reference("ScatterND", {uniform({90, 30}, -1, 1), places, uniform({3, 2, 30}, -1, 1)}, {}, 0);
}

TEST_CASE("a place that is not on its axis is named") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  for (const double place : {5.0, -6.0}) {
    const Tensor places = tensor({2, 1}, {1, place}, DType::kI64);
    const std::string error = error_of("GatherND", {uniform({5, 2}, -1, 1), places}, {.backend = cpu.get()});
    CHECK(error.find("outside an axis of 5 elements") != std::string::npos);
  }
}

}  // namespace mlopt::test
