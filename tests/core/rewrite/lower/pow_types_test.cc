#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string graph(const std::string& base, const std::string& exponent) {
  return "g (" + base + "[2,3] x, " + exponent + "[3] Y) => (" + base + "[2,3] z) { z = Pow (x, Y) }";
}
std::string lowered(const std::string& base, const std::string& exponent) {
  return test::rewritten(lower::pow_types, graph(base, exponent), 15, 1e-5, Target::kKernels);
}

}  // namespace

TEST_CASE("both operands of Pow become numbers of one type") {
  CHECK(lowered("float", "int64") == "Cast Pow");
  CHECK(lowered("float16", "float") == "Cast Pow Cast");
  CHECK(lowered("int32", "float") == "Cast Pow Cast");
  CHECK(lowered("int64", "int32") == "Cast Pow");
}

TEST_CASE("operands of one type stay") {
  CHECK(test::declined(lower::pow_types, graph("float", "float"), 15, Target::kKernels) == "both have one type");
}
