#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_neg;
using test::declined;
using test::rewritten;

TEST_CASE("sums and differences take the place of Neg") {
  CHECK(rewritten(fold_neg, "g (double[N,2] x, double[2] z) => (double[N,2] y) { n = Neg (z)  y = Add (n, x) }") ==
        "Sub");
  CHECK(rewritten(fold_neg, "g (int64[N] x, int64[N] z) => (int64[N] y) { n = Neg (z)  y = Sub (x, n) }") == "Add");
  CHECK(rewritten(fold_neg, "g (double[N] x, double[N] z) => (double[N] y) { n = Sub (z, x)  y = Neg (n) }") == "Sub");
}

TEST_CASE("Neg that others read, and before a product, stays") {
  CHECK(declined(fold_neg, "g (double[N] x, double[N] z) => (double[N] y, double[N] n) { n = Neg (z)  y = Add (x, n) }")
            .find("used elsewhere") != std::string::npos);
  CHECK(declined(fold_neg, "g (double[N] x, double[N] z) => (double[N] y) { n = Neg (z)  y = Sub (n, x) }").empty());
  CHECK(declined(fold_neg, "g (double[N] x, double[N] z) => (double[N] y) { n = Neg (z)  y = Mul (x, n) }").empty());
}
