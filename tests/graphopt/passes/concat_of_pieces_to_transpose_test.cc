#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::concat_of_pieces_to_transpose;
using test::declined;
using test::rewritten;

namespace {

/// Both directions y [T,2,B,4] of a layer as [T,B,8].
std::string graph(const std::string& parts = "p, q", const std::string& join = "axis = -1",
                  const std::string& axis = "1", const std::string& more = "") {
  return "g (double[T,2,B,4] y) => (double[P,Q,R] o) <int64[1] one = {" + axis + "}> { a, b = Split <axis = " + axis +
         ", num_outputs = 2> (y)  p = Squeeze (a, one)  q = Squeeze (b, one) " + more + " c = Concat <" + join + "> (" +
         parts + ")  o = Relu (c) }";
}

}  // namespace

TEST_CASE("all pieces of an axis that are joined along the last one are that axis, moved") {
  CHECK(rewritten(concat_of_pieces_to_transpose, graph()) == "Transpose Reshape Relu");
  CHECK(rewritten(concat_of_pieces_to_transpose, graph("p, q", "axis = 2")) == "Transpose Reshape Relu");
  CHECK(rewritten(concat_of_pieces_to_transpose, R"(g (double[T,B,2,4] y) => (double[T,B,8] o) <int64[1] two = {2}>
    { a, b = Split <axis = -2, num_outputs = 2> (y)  p = Squeeze (a, two)  q = Squeeze (b, two)
      o = Concat <axis = -1> (p, q) })") == "Reshape");
}

TEST_CASE("pieces may be taken one by one") {
  CHECK(rewritten(concat_of_pieces_to_transpose, R"(g (double[T,2,B,4] y) => (double[T,B,8] o)
    <int64 zero = {0}, int64 one = {1}> { a = Gather <axis = 1> (y, zero)  b = Gather <axis = 1> (y, one)
      o = Concat <axis = -1> (a, b) })") == "Transpose Reshape");
  CHECK(declined(concat_of_pieces_to_transpose, R"(g (double[T,3,B,4] y) => (double[P,Q,R] o)
    <int64 zero = {0}, int64 one = {1}> { a = Gather <axis = 1> (y, zero)  b = Gather <axis = 1> (y, one)
      o = Concat <axis = -1> (a, b) })") == "it does not join all pieces");
}

TEST_CASE("another order, other axes, and pieces that others read stay") {
  CHECK(declined(concat_of_pieces_to_transpose, graph("q, p")) == "the pieces are in another order");
  CHECK(declined(concat_of_pieces_to_transpose, graph("p, q", "axis = 1")) == "it joins other axes than the last one");
  CHECK(declined(concat_of_pieces_to_transpose, graph("p, q, p")) == "it does not join all pieces");
  CHECK(declined(concat_of_pieces_to_transpose, graph("p, r", "axis = -1", "1", "r = Neg (q)")) ==
        "the pieces are in another order");
}
