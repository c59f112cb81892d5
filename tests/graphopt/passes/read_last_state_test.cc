#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::read_last_state;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& attributes = "hidden_size = 4", const std::string& start = "-1",
                  const std::string& outputs = "s, h, c", const std::string& lengths = "",
                  const std::string& squeezed = "1") {
  return "g (float[5,2,3] x, int32[2] l, float[1,16,3] W, float[1,16,4] R) => (float[Q,2,4] y) <int64[1] one = {" +
         squeezed + "}, int64[1] a = {" + start + "}, int64[1] e = {2147483647}, int64[1] zero = {0}> { " + outputs +
         " = LSTM <" + attributes + "> (x, W, R, , " + lengths + ")  q = Squeeze (s, one)  y = Slice (q, a, e, zero) }";
}

}  // namespace

TEST_CASE("the last step is the last state") {
  CHECK(rewritten(read_last_state, graph(), 17, 1e-5).starts_with("LSTM"));
  CHECK(rewritten(read_last_state, graph(), 17, 1e-5).find("Slice") == std::string::npos);
}

TEST_CASE("other steps, directions and lengths, and states that are not given, stay") {
  CHECK(declined(read_last_state, graph("hidden_size = 4", "-2")) == "it takes other steps than the last one");
  CHECK(declined(read_last_state, graph("hidden_size = 4, direction = \"reverse\"")) ==
        "it does not end with the last step");
  CHECK(declined(read_last_state, graph("hidden_size = 4", "-1", "s, h, c", "l")) ==
        "each sample has a length of its own");
  CHECK(declined(read_last_state, graph("hidden_size = 4", "-1", "s")) == "its last state is not among its outputs");
}
