#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_concat_of_split;
using test::declined;
using test::rewritten;

TEST_CASE("Concat of all parts of a Split goes") {
  CHECK(rewritten(eliminate_concat_of_split, R"(g (double[N,4] x) => (double[N,4] y)
    { a, b = Split <axis = 1, num_outputs = 2> (x)  c = Concat <axis = -1> (a, b)  y = Neg (c) })") == "Neg");
}

TEST_CASE("parts in another order, along another axis, or not all of them, stay") {
  const auto graph = [](const std::string& concat, const std::string& dims) {
    return "g (double[4,4] x) => (double[" + dims +
           "] y) { a, b = Split <axis = 1, num_outputs = 2> (x)  y = " + concat + " }";
  };
  const std::string order = "it does not join all parts of a Split in order";
  CHECK(declined(eliminate_concat_of_split, graph("Concat <axis = 1> (b, a)", "4,4")) == order);
  CHECK(declined(eliminate_concat_of_split, graph("Concat <axis = 1> (a, a)", "4,4")) == order);
  CHECK(declined(eliminate_concat_of_split, graph("Concat <axis = 0> (a, b)", "8,2")) ==
        "it joins along another axis than the Split's");
}
