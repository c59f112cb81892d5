#include "cli/train/options.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {

TEST_CASE("the shape of the output suggests a loss, and one column is no class") {
  const auto usual = [](const std::string& graph) {
    return std::string(cli::recipe_of(cli::TrainOptions(), fixture(graph)).loss->name);
  };
  CHECK(usual("g (float[N,4] x) => (float[N,4] y) { y = Relu (x) }") == "cross-entropy");
  CHECK(usual("g (float[N,3,4] x) => (float[N,3,4] y) { y = Relu (x) }") == "next-token");
  CHECK(usual("g (float[N,1] x) => (float[N,1] y) { y = Relu (x) }") == "mse");
  CHECK(usual("g (float[N,3,1] x) => (float[N,3,1] y) { y = Relu (x) }") == "mse");
  CHECK(usual("g (float[N,1] x) => (float[N,1] y) { y = Sigmoid (x) }") == "bce");
}

}  // namespace mlopt::test
