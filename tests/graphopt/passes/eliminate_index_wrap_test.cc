#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_index_wrap;
using test::declined;
using test::rewritten;

namespace {

/// Rows of x by indices that are wrapped by `length` where `negative` says so.
std::string graph(const std::string& negative = "Less (i, zero)", const std::string& length = "seven",
                  const std::string& gather = "Gather (x, k)") {
  return "g (double[7,3] x, int64[N] i0, int64[N] j) => (double[Q,3] y) <int64 zero = {0}, int64 one = {1}, int64 "
         "seven = {7}, int64 three = {3}> { i = Mod (i0, seven)  c = " +
         negative + "  w = Add (i, " + length + ")  k = Where (c, w, i)  y = " + gather + " }";
}

}  // namespace

TEST_CASE("Gather counts negative indices from the end itself") {
  CHECK(rewritten(eliminate_index_wrap, graph()) == "Mod Gather");
  CHECK(rewritten(eliminate_index_wrap, R"(g (double[3,B] x, int64[N] i0) => (double[3,N] y)
    <float zero = {0}, int64[1] one = {1}, int64[1] two = {2}>
    { s = Shape (x)  n = Slice (s, one, two)  i = Sub (i0, i0)  f = Cast <to = 1> (i)  c = Less (f, zero)  w = Add (n, i)  k = Where (c, w, i)  y = Gather <axis = -1> (x, k) })")
            .find("Where") == std::string::npos);
}

TEST_CASE("another length, another condition, and an opset before negative indices stay") {
  const std::string other = "it is not the length of the axis that is added to negative indices";
  CHECK(declined(eliminate_index_wrap, graph("Less (i, zero)", "three")) == other);
  CHECK(declined(eliminate_index_wrap, graph("Less (i, one)")) == other);
  CHECK(declined(eliminate_index_wrap, graph("Less (j, zero)")) == other);
  CHECK(declined(eliminate_index_wrap, graph("Greater (i, zero)")) == other);
  CHECK(declined(eliminate_index_wrap, graph("Less (i, zero)", "seven", "Gather <axis = 1> (x, k)")) == other);
  CHECK(declined(eliminate_index_wrap, graph(), 10) == "indices are not negative before opset 11");
}

TEST_CASE("what wraps the indices and adds axes stays") {
  CHECK(declined(eliminate_index_wrap, R"(g (double[7,3] x, int64[N] i) => (double[1,N,3] y)
    <int64 zero = {0}, int64[1,1] seven = {7}>
    { c = Less (i, zero)  w = Add (i, seven)  k = Where (c, w, i)  y = Gather (x, k) })") ==
        "what wraps the indices adds axes");
}
