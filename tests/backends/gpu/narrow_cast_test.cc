#include <cmath>

#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {
namespace {

constexpr DType kSmallFloats[] = {DType::kF8E4M3FN,   DType::kF8E4M3FNUZ, DType::kF8E5M2,
                                  DType::kF8E5M2FNUZ, DType::kF8E8M0,     DType::kF4E2M1};
constexpr DType kSmallIntegers[] = {DType::kI4, DType::kU4, DType::kI2, DType::kU2};

/// Numbers of both signs from far below what small floats have to far above it, ties, and what is no number.
Tensor telling() {
  std::vector<double> values{0, -0.0, INFINITY, -INFINITY, NAN, 1e9, -1e9, 464, 465, 61440, 61441};
  for (double x = 0x1p-20; x < 0x1p17; x *= 1.0625) values.insert(values.end(), {x, -x});
  for (int i = 1; i < 64; ++i) values.push_back(i / 8.0);
  return tensor({static_cast<int64_t>(values.size())}, values);
}

Attr to(DType type) { return attr("to", static_cast<int>(type)); }

}  // namespace

TEST_CASE("small floats on a GPU are what the reference makes of numbers") {
  for (const DType type : kSmallFloats) {
    INFO(name(type));
    require_on_gpu("Cast", {telling()}, {.attrs = {to(type)}}, 0);
    require_on_gpu("Cast", {uniform({77}, -9, 9, DType::kF16)}, {.attrs = {to(type)}}, 0);
    if (type != DType::kF8E8M0) require_on_gpu("Cast", {telling()}, {.attrs = {to(type), attr("saturate", 0)}}, 0);
    const Tensor codes = run_op("Cast", {telling()}, {.attrs = {to(type)}});
    for (const DType wide : {DType::kF32, DType::kF16, DType::kBF16})
      require_on_gpu("Cast", {codes}, {.attrs = {to(wide)}}, 0);
  }
}

TEST_CASE("integers of less than a byte on a GPU wrap, and share bytes") {
  const Tensor x = tensor({11}, {-9, -8, -3.7, -1, 0, 1, 2.9, 3, 7, 8, 16});
  for (const DType type : kSmallIntegers) {
    INFO(name(type));
    for (const DType from : {DType::kF32, DType::kF16, DType::kI8, DType::kI64})
      require_on_gpu("Cast", {run_op("Cast", {x}, {.attrs = {to(from)}})}, {.attrs = {to(type)}}, 0);
    const Tensor codes = run_op("Cast", {x}, {.attrs = {to(type)}});
    for (const DType wide : {DType::kF32, DType::kBF16, DType::kI8, DType::kU8, DType::kI32, DType::kBool})
      require_on_gpu("Cast", {codes}, {.attrs = {to(wide)}}, 0);
    require_on_gpu("Cast", {codes}, {.attrs = {to(DType::kF8E4M3FN)}}, 0);
  }
}

}  // namespace mlopt::test
