#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::transpose_to_reshape;
using test::declined;
using test::rewritten;

TEST_CASE("Transpose that only moves axes of size 1 becomes a Reshape beside one") {
  CHECK(rewritten(transpose_to_reshape, R"(g (double[N,3,1,1] x) => (double[N,3] y)
    { t = Transpose <perm = [0, 2, 3, 1]> (x)  y = Flatten (t) })") == "Reshape Flatten");
  CHECK(rewritten(transpose_to_reshape, R"(g (double[N,3] x) => (double[N,1,3] y) <int64[1] two = {2}>
    { u = Unsqueeze (x, two)  y = Transpose <perm = [0, 2, 1]> (u) })") == "Unsqueeze Reshape");
}

TEST_CASE("Transpose of longer axes, and one that stands alone, stay") {
  CHECK(declined(transpose_to_reshape, R"(g (double[N,3,2] x) => (double[N,6] y)
    { t = Transpose <perm = [0, 2, 1]> (x)  y = Flatten (t) })")
            .empty());
  CHECK(declined(transpose_to_reshape,
                 "g (double[N,3,1] x) => (double[N,1,3] y) { y = Transpose <perm = [0, 2, 1]> (x) }") ==
        "no Reshape is next to it");
}
