#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string graph(const std::string& signal, const std::string& inputs, const char* onesided = "1") {
  return "g (" + signal +
         " x, double[8] W) => (double[2,F,B,2] y) <int64 step = {3}, int64 length = {8}> { y = STFT "
         "<onesided = " +
         onesided + "> (x, step, " + inputs + ") }";
}
std::string lowered(const std::string& text, int64_t opset = 17) {
  return test::rewritten(lower::stft, text, opset, 1e-9, Target::kKernels);
}

}  // namespace

TEST_CASE("frames are gathered, weighed and transformed") {
  CHECK(lowered(graph("double[2,20,1]", "W, length")) == "Reshape Gather Reshape Mul DFT");
  CHECK(lowered(graph("double[2,20,1]", "W")) == "Reshape Gather Reshape Mul DFT");
  CHECK(lowered(graph("double[2,20,2]", ", length", "0")) == "Reshape Gather DFT");
  CHECK(lowered(graph("double[2,20,1]", ", length"), 20) == "Reshape Gather DFT");
}

TEST_CASE("frames that are not known stay") {
  CHECK(test::declined(lower::stft, graph("double[2,N,1]", "W"), 17, Target::kKernels) == "its shape is not known");
  CHECK(test::declined(lower::stft, graph("double[2,7,1]", "W"), 17, Target::kKernels) == "it is malformed");
}
