#include "core/ir/size_arithmetic.h"

#include <limits>

#include "tests/support/catch.h"

using namespace mlopt;
using infer_rules::combine;

namespace {

const Dim kN = Dim::symbol("N");

}  // namespace

TEST_CASE("sizes that are not known are computed with") {
  CHECK(combine("Add", kN, 2) == kN + 2);
  CHECK(combine("Div", kN * 2, 2) == kN);
  CHECK(combine("Equal", kN, kN) == Dim(1));
  CHECK(combine("Equal", kN, -1) == Dim(0));
  CHECK(combine("Max", kN, 0) == kN);
  CHECK(combine("Max", -3, kN) == kN);
}

TEST_CASE("one operand may say enough") {
  CHECK(combine("And", Dim(), 0) == Dim(0));
  CHECK(combine("And", 0, Dim()) == Dim(0));
  CHECK(combine("Or", Dim(), 1) == Dim(1));
  CHECK_FALSE(combine("And", Dim(), 1).known());
  CHECK_FALSE(combine("Or", 0, Dim()).known());
}

TEST_CASE("what depends on sizes, or is too large, is not known") {
  CHECK_FALSE(combine("Max", kN, 1).known());
  CHECK_FALSE(combine("Max", kN - 5, 0).known());
  CHECK_FALSE(combine("Less", kN, 7).known());
  CHECK_FALSE(combine("Div", std::numeric_limits<int64_t>::min(), -1).known());
  CHECK_FALSE(combine("Xor", 1, 1).known());
}
