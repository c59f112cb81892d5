#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

OpOptions options(int axis, const char* reduction = nullptr) {
  OpOptions o{.attrs = {attr("axis", axis)}};
  if (reduction) o.attrs.push_back(attr("reduction", reduction));
  return o;
}

/// Data, and indices of fewer elements on each axis but `axis`, where there are more.
struct Case {
  Dims data, indices;
  int axis;
};

const Case kCases[] = {
    {{7}, {11}, 0},
    {{5, 256}, {5, 1}, 1},
    {{5, 256}, {5, 1}, -1},
    {{3, 4, 5}, {2, 9, 4}, 1},
    {{3, 4, 5}, {7, 3, 5}, -3},
    {{40, 90, 6}, {40, 90, 9}, 2},
};

Tensor indices_of(const Case& c, DType type) {
  const auto rank = static_cast<int>(c.data.size());
  const auto length = static_cast<double>(c.data[static_cast<size_t>((c.axis + rank) % rank)]);
  return uniform(c.indices, -length, length - 1, type, 5);
}

}  // namespace

TEST_CASE("elements are gathered along any axis as the reference does") {
  for (const Case& c : kCases)
    for (const DType index : {DType::kI32, DType::kI64})
      for (const DType type : {DType::kF32, DType::kF64, DType::kU8, DType::kF16}) {
        INFO(to_string(c.data) << " by " << to_string(c.indices) << " along " << c.axis);
        require_as_reference("GatherElements", {uniform(c.data, 0, 99, type), indices_of(c, index)}, options(c.axis),
                             0);
      }
}

TEST_CASE("elements are scattered along any axis as the reference does") {
  for (const Case& c : kCases)
    for (const DType index : {DType::kI32, DType::kI64}) {
      INFO(to_string(c.data) << " by " << to_string(c.indices) << " along " << c.axis);
      const Tensor x = uniform(c.data, -1, 1), updates = uniform(c.indices, -1, 1, DType::kF32, 7);
      const Tensor places = indices_of(c, index);
      require_as_reference("ScatterElements", {x, places, updates}, options(c.axis, "add"));
      require_as_reference("ScatterElements", {x, places, updates}, options(c.axis), 0);
      require_as_reference("ScatterElements",
                           {uniform(c.data, 0, 99, DType::kI64), places, uniform(c.indices, 0, 99, DType::kI64, 7)},
                           options(c.axis, "none"), 0);
    }
}

TEST_CASE("elements that are no numbers are moved and added as others are") {
  const Tensor x = tensor({2, 3}, {NAN, 1, INFINITY, 2, -INFINITY, 3});
  const Tensor places = tensor({2, 2}, {2, 0, 1, -1}, DType::kI64);
  require_as_reference("GatherElements", {x, places}, options(1), 0);
  require_as_reference("ScatterElements", {x, places, tensor({2, 2}, {-INFINITY, 5, 1, NAN})}, options(1, "add"), 0);
}

TEST_CASE("an index of an element that is not on the axis is an error that names it") {
  const auto cpu = cpu_with_fallback();
  for (const int64_t place : {3, -4}) {
    OpOptions o = options(0);
    o.backend = cpu.get();
    const Tensor x = uniform({3, 2}, -1, 1), places = tensor({2, 1}, {0, static_cast<double>(place)}, DType::kI64);
    const std::string text = "index " + std::to_string(place) + " is outside an axis of 3 elements";
    CHECK(error_of("GatherElements", {x, places}, o).find(text) != std::string::npos);
    CHECK(error_of("ScatterElements", {x, places, uniform({2, 1}, -1, 1)}, o).find(text) != std::string::npos);
  }
}

}  // namespace mlopt::test
