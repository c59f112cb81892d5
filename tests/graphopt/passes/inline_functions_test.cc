#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::inline_functions_pass;
using test::declined;
using test::rewritten;

TEST_CASE("calls of local functions become their bodies") {
  CHECK(rewritten(inline_functions_pass, R"(
    g (double[N] x) => (double[N] y) { a = local.twice (x)  y = local.twice (a) }
    <domain: "local", opset_import: ["" : 21]> twice (a) => (b) { c = Neg (a)  b = Add (c, c) })") ==
        "Neg Add Neg Add");
}

TEST_CASE("a function that calls itself stays, with the reason") {
  CHECK(declined(inline_functions_pass, R"(
    g (double[N] x) => (double[N] y) { y = local.again (x) }
    <domain: "local", opset_import: ["" : 21, "local" : 1]> again (a) => (b) { b = local.again (a) })") ==
        "function 'again' calls itself");
  CHECK(declined(inline_functions_pass, "g (double[N] x) => (double[N] y) { y = Neg (x) }").empty());
}
