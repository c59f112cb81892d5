#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::reverse_recurrence;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& layer, const std::string& outputs = "double[1,N,3] y",
                  const std::string& turned = "r = Slice (x, m1, least, a0, m1)") {
  return "g (double[T,N,2] x, double[1,12,2] W, double[1,12,3] R, double[1,3,2] V, double[1,3,3] S, double[1,N,3] s) "
         "=> (" +
         outputs +
         ") <int64[1] a0 = {0}, int64[1] a1 = {1}, int64[1] a2 = {2}, int64[1] m1 = {-1}, int64[1] m2 = {-2}, " +
         "int64[1] least = {-9223372036854775807}, int32[2] lengths = {2, 3}> { " + turned + "  " + layer + " }";
}

}  // namespace

TEST_CASE("a layer of a sequence that is turned round goes the other way") {
  CHECK(rewritten(reverse_recurrence, graph(", y = RNN <hidden_size = 3> (r, V, S)")) == "RNN");
  CHECK(rewritten(reverse_recurrence, graph(", y = LSTM <hidden_size = 3, direction = \"reverse\"> (r, W, R)")) ==
        "LSTM");
  CHECK(rewritten(reverse_recurrence, graph(", y = RNN <hidden_size = 3> (r, V, S, , , s)")) == "RNN");
}

TEST_CASE("its outputs are turned round instead, behind their Squeeze") {
  CHECK(rewritten(reverse_recurrence, graph("y = RNN <hidden_size = 3> (r, V, S)", "double[T,1,N,3] y")) ==
        "RNN Slice");
  CHECK(rewritten(reverse_recurrence, graph("o = RNN <hidden_size = 3> (r, V, S)  y = Squeeze (o, a1)",
                                            "double[T,N,3] y")) == "RNN Squeeze Slice");
  CHECK(rewritten(reverse_recurrence, graph("y, l = RNN <hidden_size = 3> (r, V, S)",
                                            "double[T,1,N,3] y, double[1,N,3] l")) == "RNN Slice");
}

TEST_CASE("other layers and other sequences stay") {
  const std::string layer = ", y = RNN <hidden_size = 3> (r, V, S)";
  CHECK(declined(reverse_recurrence, graph(", y = RNN <hidden_size = 3> (x, V, S)")).empty());
  CHECK(declined(reverse_recurrence, graph(layer, "double[1,N,3] y", "r = Slice (x, m2, least, a0, m1)")).empty());
  CHECK(declined(reverse_recurrence, graph(layer, "double[1,N,3] y", "r = Slice (x, m1, least, a1, m1)")).empty());
  CHECK(declined(reverse_recurrence, graph(layer, "double[1,N,3] y", "r = Slice (x, m1, least, a0, m2)")).empty());
  CHECK(declined(reverse_recurrence, graph(", y = RNN <hidden_size = 3, layout = 1> (r, V, S)")) ==
        "its batch comes first");
  CHECK(declined(reverse_recurrence, graph(", y = RNN <hidden_size = 3> (r, V, S, , lengths)")) ==
        "each sample has a length of its own");
}
