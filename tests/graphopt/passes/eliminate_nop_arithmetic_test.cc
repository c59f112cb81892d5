#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_nop_arithmetic;
using test::declined;
using test::rewritten;

TEST_CASE("arithmetic with a neutral constant goes") {
  CHECK(rewritten(eliminate_nop_arithmetic, R"(g (double[N,2] x) => (double[N,2] y)
    <double zero = {0}, double[2] one = {1, 1}> {
      a = Add (zero, x)  b = Sub (a, zero)  c = Mul (b, one)  d = Div (c, one)  e = Pow (d, one)  y = Relu (e)
    })") == "Relu");
  CHECK(rewritten(eliminate_nop_arithmetic, R"(g (int64[N] x) => (int64[N] y)
    <int64 one = {1}> { a = Mul (x, one)  y = Neg (a) })") == "Neg");
  // Nothing is known of the axes that the constant does not have.
  CHECK(rewritten(eliminate_nop_arithmetic, R"(g (double[N,2] x, double[N,2] c) => (double[M,2] y)
    <double[2] zero = {0, 0}> { k = Greater (x, c)  p = NonZero (k)  q = Cast <to = 11> (p)
      t = Transpose (q)  a = Add (t, zero)  y = Neg (a) })") == "Greater NonZero Cast Transpose Neg");
}

TEST_CASE("limits that are infinite go") {
  CHECK(rewritten(eliminate_nop_arithmetic, R"(g (double[N,2] x) => (double[N,2] y)
    <double low = {-inf}, double high = {inf}> { a = Max (low, x)  b = Min (a, high)  y = Relu (b) })") == "Relu");
  CHECK(declined(eliminate_nop_arithmetic, R"(g (double[N,2] x) => (double[N,2] y)
    <double low = {-inf}, double high = {inf}> { a = Max (high, x)  y = Min (a, low) })") ==
        "its constant is not neutral");
}

TEST_CASE("so does a Clip between infinities") {
  const auto clipped = [](const std::string& limits) {
    return "g (double[N] x, double z) => (double[N] y) <double low = {-inf}, double high = {inf}, double one = {1}> { "
           "a = Clip (x" +
           limits + ")  y = Neg (a) }";
  };
  CHECK(rewritten(eliminate_nop_arithmetic, clipped(", low, high")) == "Neg");
  for (const std::string limits : {"", ", low", ", , high"})
    CHECK(declined(eliminate_nop_arithmetic, clipped(limits)) ==
          "a limit that is left out is the largest finite number");
  for (const std::string limits : {", one, high", ", low, one", ", low, z", ", high, high"})
    CHECK(declined(eliminate_nop_arithmetic, clipped(limits)) == "it has limits");
  CHECK(declined(eliminate_nop_arithmetic, clipped(""), 10) ==
        "limits that are left out are those of float32 before opset 11");
}

TEST_CASE("arithmetic that changes a number or a shape stays") {
  const std::string not_neutral = "its constant is not neutral", broadcasts = "it may broadcast";
  CHECK(declined(eliminate_nop_arithmetic,
                 "g (double[N,2] x) => (double[N,2] y) <double[2] c = {1, 2}> { y = Mul (x, c) }") == not_neutral);
  CHECK(declined(eliminate_nop_arithmetic, "g (double[N] x) => (double[N] y) <double c = {0}> { y = Sub (c, x) }") ==
        "'x' is not constant");
  CHECK(declined(eliminate_nop_arithmetic,
                 "g (double[N] x) => (double[1,N] y) <double[1,1] c = {0}> { y = Add (x, c) }") == broadcasts);
  CHECK(declined(eliminate_nop_arithmetic,
                 "g (double[1] x) => (double[2] y) <double[2] c = {0, 0}> { y = Add (x, c) }") == broadcasts);
  CHECK(declined(eliminate_nop_arithmetic,
                 "g (double[N] x) => (double[M] y) <double[2] c = {0, 0}> { y = Add (x, c) }") == broadcasts);
}

TEST_CASE("a constant that the caller may override is none") {
  CHECK(declined(eliminate_nop_arithmetic, "g (double[N] x, double c = {0}) => (double[N] y) { y = Add (x, c) }") ==
        "'c' is not constant");
}
