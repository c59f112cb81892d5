#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::gather_to_slice;
using test::declined;
using test::rewritten;

TEST_CASE("Gather of neighbours becomes Slice") {
  CHECK(rewritten(gather_to_slice, R"(g (double[N,5] x) => (double[N,3] y) <int64[3] i = {1, 2, 3}>
    { y = Gather <axis = 1> (x, i) })") == "Slice");
  CHECK(rewritten(gather_to_slice,
                  R"(g (double[4,N] x) => (double[2,N] y) <int32[2] i = {-2, -1}> { y = Gather (x, i) })",
                  9) == "Slice");
}

TEST_CASE("other orders, gaps, scalars, and what may be out of range stay") {
  const auto gather = [](const std::string& x, const std::string& indices, const std::string& y) {
    return "g (double" + x + " x) => (double" + y + " y) <int64" + indices + "> { y = Gather (x, i) }";
  };
  CHECK(declined(gather_to_slice, gather("[4]", "[2] i = {1, 0}", "[2]")) == "its indices do not follow each other");
  CHECK(declined(gather_to_slice, gather("[4]", "[2] i = {0, 2}", "[2]")) == "its indices do not follow each other");
  CHECK(declined(gather_to_slice, gather("[4]", "[2] i = {3, 4}", "[2]")) == "its indices are not valid");
  CHECK(declined(gather_to_slice, gather("[4]", " i = {1}", "")) == "its indices are no list");
  CHECK(declined(gather_to_slice, gather("[N]", "[2] i = {0, 1}", "[2]")) ==
        "whether its indices are valid is not known");
}
