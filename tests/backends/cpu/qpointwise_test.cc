#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

Tensor bytes(const Dims& dims, DType type, uint64_t seed) {
  return uniform(dims, type == DType::kI8 ? -128 : 0, type == DType::kI8 ? 127 : 255, type, seed);
}

Tensor scale(double value) { return tensor({}, {value}); }

const OpOptions kContrib{.domain = "com.microsoft"};

}  // namespace

TEST_CASE("QLinearAdd and QLinearMul broadcast and give the reference's steps") {
  for (const DType type : {DType::kU8, DType::kI8}) {
    const double middle = type == DType::kI8 ? 0 : 128;
    const auto zero = [&](double z) { return tensor({}, {middle + z}, type); };
    for (const char* op : {"QLinearAdd", "QLinearMul"})
      for (const auto& [a, b] :
           {std::pair<Dims, Dims>{{2, 3, 5, 7}, {2, 3, 5, 7}}, {{2, 3, 5, 7}, {3, 1, 1}}, {{1}, {4, 1500}}}) {
        INFO(op << " of " << to_string(a) << " and " << to_string(b) << " " << name(type));
        require_as_reference(
            op,
            {bytes(a, type, 1), scale(0.03), zero(5), bytes(b, type, 2), scale(0.05), zero(-7), scale(0.07), zero(2)},
            kContrib, 0, 1);
      }
  }
}

TEST_CASE("functions of bytes and averages give the reference's steps") {
  for (const DType type : {DType::kU8, DType::kI8}) {
    const double middle = type == DType::kI8 ? 0 : 128;
    const auto zero = [&](double z) { return tensor({}, {middle + z}, type); };
    const Tensor x = bytes({2, 3, 5, 7}, type, 1);
    require_as_reference("QLinearSigmoid", {x, scale(0.05), zero(5), scale(1 / 255.0), zero(-128)}, kContrib, 0, 1);
    require_as_reference("QLinearLeakyRelu", {x, scale(0.05), zero(5), scale(0.04), zero(-60)},
                         {.attrs = {{"alpha", 0.2f, ""}}, .domain = "com.microsoft"}, 0, 1);
    require_as_reference("QLinearGlobalAveragePool", {x, scale(0.05), zero(5), scale(0.02), zero(3)}, kContrib, 0, 1);
    require_as_reference(
        "QLinearConcat",
        {scale(0.05), zero(1), x, scale(0.05), zero(1), bytes({2, 4, 5, 7}, type, 2), scale(0.03), zero(9)},
        {.attrs = {{"axis", int64_t{1}, ""}}, .domain = "com.microsoft"}, 0, 1);
  }
}

}  // namespace mlopt::test
