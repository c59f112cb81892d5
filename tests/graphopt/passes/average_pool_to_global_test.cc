#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::average_pool_to_global;
using test::declined;
using test::rewritten;

TEST_CASE("an average pool over the whole image becomes a global one") {
  const auto pool = [](const std::string& attrs) {
    return "g (float[N,4,2,3] x) => (float[N,4,1,1] y) { y = AveragePool <kernel_shape = [2, 3]" + attrs + "> (x) }";
  };
  for (const char* attrs : {"", ", strides = [2, 3]", ", count_include_pad = 1, ceil_mode = 1",
                            ", auto_pad = \"VALID\"", ", auto_pad = \"SAME_UPPER\", strides = [2, 3]"}) {
    INFO(attrs);
    CHECK(rewritten(average_pool_to_global, pool(attrs)) == "GlobalAveragePool");
  }
  CHECK(rewritten(average_pool_to_global, R"(g (float[1,4,5] x) => (float[1,4,1] y)
    { y = AveragePool <kernel_shape = [5]> (x) })") == "GlobalAveragePool");
}

TEST_CASE("windows that are smaller, padded, spread or of images of any size stay") {
  const auto pool = [](const std::string& type, const std::string& attrs, const std::string& y) {
    return "g (" + type + " x) => (" + y + " y) { y = AveragePool <" + attrs + "> (x) }";
  };
  const std::string part = "its window is not the whole image";
  CHECK(declined(average_pool_to_global, pool("float[N,4,2,3]", "kernel_shape = [2, 2]", "float[N,4,1,2]")) == part);
  CHECK(declined(average_pool_to_global,
                 pool("float[N,4,4,4]", "kernel_shape = [2, 2], strides = [4, 4]", "float[N,4,1,1]")) == part);
  CHECK(declined(average_pool_to_global, pool("float[N,4,3,3]",
                                              "kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [3, 3], "
                                              "count_include_pad = 1",
                                              "float[N,4,1,1]")) == part);
  CHECK(declined(average_pool_to_global,
                 pool("float[N,4,3,3]", "kernel_shape = [2, 2], dilations = [2, 2]", "float[N,4,1,1]"), 19) == part);
  CHECK(declined(average_pool_to_global, pool("float[N,4,H,2]", "kernel_shape = [2, 2]", "float[N,4,1,1]")) ==
        "its shape is not known");
}
