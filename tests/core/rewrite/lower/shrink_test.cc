#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("what is small becomes zero, and the rest comes nearer to it") {
  for (const char* attrs : {"", "<lambd = 0.3, bias = 0.2>", "<lambd = 0.0, bias = -1.0>"})
    CHECK(test::rewritten(lower::shrink,
                          "g (double[5,7] x) => (double[5,7] y) { y = Shrink " + std::string(attrs) + " (x) }", 9, 1e-7,
                          Target::kKernels)
              .find("Shrink") == std::string::npos);
}
