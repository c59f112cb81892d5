#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string graph(const std::string& attrs, const std::string& condition) {
  return "g (double[3,4] x) => (double[N" + std::string(attrs.empty() ? "" : ",M") + "] y) <bool[3] c = {" + condition +
         "}> { y = Compress " + attrs + " (x, c) }";
}

}  // namespace

TEST_CASE("what a known condition keeps is gathered") {
  CHECK(test::rewritten(lower::compress, graph("<axis = 0>", "0, 1, 1")) == "Gather");
  CHECK(test::rewritten(lower::compress, graph("<axis = -1>", "1, 0, 1")) == "Gather");
  CHECK(test::rewritten(lower::compress, graph("", "0, 1, 1")) == "Reshape Gather");
}

TEST_CASE("a condition that is not known stays") {
  CHECK(test::declined(lower::compress,
                       "g (double[3] x, bool[3] c) => (double[N] y) { y = Compress <axis = 0> (x, c) }") ==
        "'c' is not constant");
}
