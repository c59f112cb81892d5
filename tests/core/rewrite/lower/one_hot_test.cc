#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string graph(const std::string& type) {
  return "g (" + type + "[2,3] places, double[2] V) => (double[2,3,4] y) <int64 d = {4}> { y = OneHot (places, d, V) }";
}

}  // namespace

TEST_CASE("places of any type become integers") {
  for (const char* type : {"float", "double", "uint8"})
    CHECK(test::rewritten(lower::one_hot, graph(type), 13, 0, Target::kKernels) == "Cast OneHot");
}

TEST_CASE("places that are integers stay") {
  CHECK(test::declined(lower::one_hot, graph("int64"), 13, Target::kKernels) == "they are such");
}
