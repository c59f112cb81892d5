#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_zero_state;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& hidden, const std::string& cell, const std::string& fill = "0") {
  return "g (float[T,B,3] x, float[1,16,3] W, float[1,16,4] R, float[1,B,4] s) => (float[T,1,B,4] y) <float zero = {" +
         fill +
         "}, int64[1] one = {1}, int64[1] two = {2}, int64[1] four = {4}> { shape = Shape (x) "
         "b = Slice (shape, one, two)  dims = Concat <axis = 0> (one, b, four)  z = Expand (zero, dims) "
         "y = LSTM <hidden_size = 4> (x, W, R, , , " +
         hidden + ", " + cell + ") }";
}

}  // namespace

TEST_CASE("states of zeros go, one by one") {
  CHECK(rewritten(eliminate_zero_state, graph("z", "z"), 17, 1e-5) == "LSTM");
  CHECK(rewritten(eliminate_zero_state, graph("s", "z"), 17, 1e-5) == "LSTM");
  CHECK(rewritten(eliminate_zero_state, R"(g (float[T,B,3] x, float[2,12,3] W, float[2,12,4] R) => (float[T,2,B,4] y)
    <int64[1] one = {1}, int64[1] two = {2}, int64[1] four = {4}> { shape = Shape (x)  b = Slice (shape, one, two)
      dims = Concat <axis = 0> (one, b, four)  z = ConstantOfShape (dims)  s = Concat <axis = 0> (z, z)
      y = GRU <hidden_size = 4, direction = "bidirectional"> (x, W, R, , , s) })",
                  17, 1e-5) == "GRU");
}

TEST_CASE("other states stay") {
  CHECK(declined(eliminate_zero_state, graph("s", "s")).empty());
  CHECK(declined(eliminate_zero_state, graph("z", "z", "1")).empty());
}
