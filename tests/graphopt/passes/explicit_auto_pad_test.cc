#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::explicit_auto_pad;
using test::declined;
using test::rewritten;

namespace {

std::string conv(const std::string& attrs, const std::string& size = "7,8") {
  return "g (double[N,2," + size + "] x, double[3,2,3,2] W) => (double[N,3,H,L] y) { y = Conv <" + attrs + "> (x, W) }";
}

}  // namespace

TEST_CASE("pads that follow from sizes are written") {
  for (const std::string how : {"SAME_UPPER", "SAME_LOWER", "VALID"})
    for (const std::string more : {"", ", strides = [2, 3]", ", dilations = [2, 1]"})
      CHECK(rewritten(explicit_auto_pad, conv("auto_pad = \"" + how + "\"" + more)) == "Conv");
  CHECK(rewritten(explicit_auto_pad, R"(g (double[N,2,7] x) => (double[N,2,4] y)
    { y = AveragePool <auto_pad = "SAME_UPPER", kernel_shape = [2], strides = [2]> (x) })") == "AveragePool");
}

TEST_CASE("pads that depend on a free size, and those that are written, stay") {
  CHECK(declined(explicit_auto_pad, conv("auto_pad = \"SAME_UPPER\"", "M,8")) == "its pads depend on a free dimension");
  CHECK(declined(explicit_auto_pad, conv("pads = [1, 1, 1, 1]")).empty());
}
