#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_where_into_concat;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& where, const std::string& flags = "0, 1, 1") {
  return "g (int64[1] n, int64[2] m, double[2] d) => (int64[3] y) <bool[3] c = {" + flags +
         "}, int64[3] k = {7, 8, 9}, int64[1] one = {1}, int64[1] free = {-1}> { " + where + " }";
}

}  // namespace

TEST_CASE("what is chosen in place of whole operands is joined instead") {
  CHECK(rewritten(fold_where_into_concat, graph("s = Concat <axis = 0> (n, m)  y = Where (c, k, s)")) == "Concat");
  CHECK(rewritten(fold_where_into_concat, graph("s = Concat <axis = 0> (n, m)  y = Where (c, s, k)")) == "Concat");
  CHECK(rewritten(fold_where_into_concat,
                  graph("s = Concat <axis = 0> (n, free, free)  y = Where (c, one, s)", "0, 1, 0")) == "Concat");
}

TEST_CASE("a choice within an operand, operands that broadcast, and other numbers than sizes stay") {
  CHECK(declined(fold_where_into_concat, graph("s = Concat <axis = 0> (n, m)  y = Where (c, k, s)", "0, 1, 0")) ==
        "it chooses within an operand");
  CHECK(declined(fold_where_into_concat, graph("s = Concat <axis = 0> (n)  y = Where (c, k, s)")) ==
        "its operands broadcast");
  CHECK(declined(fold_where_into_concat, R"(g (double[1] n, double[2] m) => (double[3] y)
    <bool[3] c = {0, 1, 1}, double[3] k = {7, 8, 9}> { s = Concat <axis = 0> (n, m)  y = Where (c, k, s) })") ==
        "its operands are no sizes");
}
