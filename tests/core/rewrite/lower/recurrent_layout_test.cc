#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string graph(const std::string& op, int gates, const std::string& inputs, const std::string& layout = "1") {
  const std::string rows = std::to_string(gates * 5);
  return "g (double[2,3,4] x, double[2,2,5] h, double[2,2,5] c, double[2," + rows + ",4] W, double[2," + rows +
         ",5] R) => (double[2,3,2,5] y, double[2,2,5] l) { y, l = " + op + " <hidden_size = 5, layout = " + layout +
         ", direction = \"bidirectional\"> (x, W, R, , " + inputs + ") }";
}

}  // namespace

TEST_CASE("samples that come first are turned behind the steps, and back") {
  CHECK(test::rewritten(lower::recurrent_layout, graph("LSTM", 4, ", h, c"), 14, 1e-9, Target::kKernels) ==
        "Transpose Transpose Transpose LSTM Transpose Transpose");
  CHECK(test::rewritten(lower::recurrent_layout, graph("GRU", 3, ", h"), 14, 1e-9, Target::kKernels) ==
        "Transpose Transpose GRU Transpose Transpose");
  CHECK(test::rewritten(lower::recurrent_layout, graph("RNN", 1, ""), 14, 1e-9, Target::kKernels) ==
        "Transpose RNN Transpose Transpose");
}

TEST_CASE("steps that come first stay") {
  CHECK(test::declined(lower::recurrent_layout,
                       "g (double[3,2,4] x, double[1,5,4] W, double[1,5,5] R) => (double[3,1,2,5] y) { y = RNN "
                       "<hidden_size = 5> (x, W, R) }",
                       14, Target::kKernels) == "its steps come first");
}
