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

TEST_CASE("pools whose size runtimes compute differently stay") {
  const auto reason = [](const std::string& attrs) {
    return declined(explicit_auto_pad,
                    "g (double[1,1,7,7] x) => (double[1,1,H,L] y) { y = MaxPool <kernel_shape = [2, "
                    "2], strides = [3, 3], " +
                        attrs + "> (x) }");
  };
  CHECK(reason("auto_pad = \"VALID\", ceil_mode = 1") == "runtimes differ in how they round its size");
  CHECK(reason("auto_pad = \"SAME_UPPER\", dilations = [2, 1]") == "runtimes differ in the size of a dilated pool");
}
