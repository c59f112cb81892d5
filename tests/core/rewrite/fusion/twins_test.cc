#include "core/rewrite/fusion/twins.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Are the values p and q, that the nodes make of x and of constants, twins?
bool twins(const std::string& nodes) {
  const Model model = test::fixture(
      "g (float[N,4] x, float[N,4] z) => (float[N,4] y) <int64[1] a = {1}, int64[1] b = {1}, int64[1] c = {2}, "
      "float[1] "
      "f = {1}> { " +
          nodes + "  y = Identity (x) }",
      17);
  return fusion::are_twins(model.graph->find("p"), model.graph->find("q"));
}

}  // namespace

TEST_CASE("equal operators make the same of the same") {
  CHECK(twins("p = Cos (x)  q = Cos (x)"));
  CHECK(twins("p = Unsqueeze (x, a)  q = Unsqueeze (x, b)"));
  CHECK(twins("s = Sin (x)  t = Sin (x)  p = Transpose <perm = [1, 0]> (s)  q = Transpose <perm = [1, 0]> (t)"));
}

TEST_CASE("other operators, attributes, constants and operands do not") {
  CHECK_FALSE(twins("p = Cos (x)  q = Sin (x)"));
  CHECK_FALSE(twins("p = Cos (x)  q = Cos (z)"));
  CHECK_FALSE(twins("p = Unsqueeze (x, a)  q = Unsqueeze (x, c)"));
  CHECK_FALSE(twins("p = Transpose <perm = [1, 0]> (x)  q = Transpose <perm = [0, 1]> (x)"));
  CHECK_FALSE(twins("p = Transpose <perm = [1, 0]> (x)  q = Transpose (x)"));
  CHECK_FALSE(twins("p, s = Split <axis = 1> (x)  t, q = Split <axis = 1> (x)"));
  CHECK_FALSE(twins("p = Sub (x, z)  q = Sub (z, x)"));
}

TEST_CASE("attributes are compared by kind and value") {
  CHECK(twins("p = Elu <alpha = 0.5> (x)  q = Elu <alpha = 0.5> (x)"));
  CHECK_FALSE(twins("p = Elu <alpha = 0.5> (x)  q = Elu <alpha = 0.6> (x)"));
  CHECK(twins("p = Gelu <approximate = \"tanh\"> (x)  q = Gelu <approximate = \"tanh\"> (x)"));
  CHECK_FALSE(twins("p = Gelu <approximate = \"tanh\"> (x)  q = Gelu <approximate = \"none\"> (x)"));
}

TEST_CASE("random numbers are not the same") {
  CHECK_FALSE(twins("p = RandomUniformLike (x)  q = RandomUniformLike (x)"));
}
