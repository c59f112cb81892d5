#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::stack_of_pieces_to_transpose;
using test::declined;
using test::rewritten;

namespace {

/// Three pieces a, b, c of x, which are joined after their axis is put in again.
std::string graph(const std::string& x, const std::string& y, const std::string& join, int axis = 0,
                  const std::string& put = "zero") {
  const std::string gather = " = Gather <axis = " + std::to_string(axis) + "> (x, ";
  return "g (double" + x + " x) => (double" + y +
         " y) <int64 k0 = {0}, int64 k1 = {1}, int64 k2 = {2}, int64[1] zero = " +
         "{0}, int64[1] one = {1}, int64[1] two = {2}> { p" + gather + "k0)  q" + gather + "k1)  r" + gather +
         "k2)  a = Unsqueeze (p, " + put + ")  b = Unsqueeze (q, " + put + ")  c = Unsqueeze (r, " + put + ")  " +
         join + " }";
}

}  // namespace

TEST_CASE("a stack of all pieces is what they are pieces of, its axes in another order") {
  const auto& pass = stack_of_pieces_to_transpose;
  CHECK(rewritten(pass, graph("[3,N,4]", "[3,N,4]", "j = Concat <axis = 0> (a, b, c)  y = Neg (j)")) == "Neg");
  CHECK(rewritten(pass, graph("[3,N,4]", "[N,3,4]", "y = Concat <axis = 1> (a, b, c)", 0, "one")) == "Transpose");
  CHECK(rewritten(pass, graph("[N,3,4]", "[3,N,4]", "y = Concat <axis = 0> (a, b, c)", 1)) == "Transpose");
  CHECK(rewritten(pass, graph("[N,3,4]", "[N,4,3]", "y = Concat <axis = -1> (a, b, c)", 1, "two")) == "Transpose");
}

TEST_CASE("the last piece first: turned round") {
  const auto& pass = stack_of_pieces_to_transpose;
  CHECK(rewritten(pass, graph("[3,N,4]", "[3,N,4]", "y = Concat <axis = 0> (c, b, a)")) == "Slice");
  CHECK(rewritten(pass, graph("[N,3,4]", "[3,N,4]", "y = Concat <axis = 0> (c, b, a)", 1)) == "Transpose Slice");
}

TEST_CASE("pieces that keep their axis") {
  CHECK(rewritten(
            stack_of_pieces_to_transpose,
            "g (double[2,N] x) => (double[2,N] y) <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}> { a "
            "= Slice (x, zero, one, zero)  b = Slice (x, one, two, zero)  j = Concat <axis = 0> (a, b)  y = Neg (j) "
            "}") == "Neg");
}

TEST_CASE("other pieces, another order, or not all stay") {
  const auto reason = [](const std::string& x, const std::string& y, const std::string& join) {
    return declined(stack_of_pieces_to_transpose, graph(x, y, join));
  };
  CHECK(reason("[3,N,4]", "[3,N,4]", "y = Concat <axis = 0> (a, c, b)") == "the pieces are in another order");
  CHECK(reason("[3,N,4]", "[3,N,4]", "y = Concat <axis = 0> (b, c, a)") == "the pieces are in another order");
  CHECK(reason("[3,N,4]", "[2,N,4]", "y = Concat <axis = 0> (a, b)") == "it does not join all pieces");
  CHECK(reason("[4,N,4]", "[3,N,4]", "y = Concat <axis = 0> (a, b, c)") == "it does not join all pieces");
  CHECK(reason("[4,N,4]", "[3,N,4]", "y = Concat <axis = 0> (c, b, a)") == "it does not join all pieces");
  CHECK(reason("[3,N,4]", "[3,N,4]", "n = Neg (c)  y = Concat <axis = 0> (a, b, n)") ==
        "it joins other values as well");
  CHECK(reason("[3,3,4]", "[1,9,4]", "y = Concat <axis = 1> (a, b, c)").empty());
}

TEST_CASE("a Slice has no steps before opset 10") {
  const auto graph = [](const std::string& order) {
    return "g (double[2,N] x) => (double[2,N] y) <int64 k0 = {0}, int64 k1 = {1}> { p = Gather <axis = 0> (x, k0)  q = "
           "Gather <axis = 0> (x, k1)  a = Unsqueeze <axes = [0]> (p)  b = Unsqueeze <axes = [0]> (q)  j = Concat "
           "<axis = "
           "0> (" +
           order + ")  y = Neg (j) }";
  };
  CHECK(rewritten(stack_of_pieces_to_transpose, graph("a, b"), 9) == "Neg");
  CHECK(rewritten(stack_of_pieces_to_transpose, graph("b, a"), 11) == "Slice Neg");
  CHECK(declined(stack_of_pieces_to_transpose, graph("b, a"), 9) == "Slice needs opset 10 to go backwards");
}
