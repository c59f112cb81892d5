#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::reverse_sequence_to_slice;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& x, const std::string& lengths,
                  const std::string& attrs = "time_axis = 0, batch_axis = 1") {
  return "g (double" + x + " x) => (double" + x +
         " y) <int64[3] all = {4, 4, 4}, int64[3] some = {4, 3, 4}, int64[1] " +
         "three = {3}, int64[1] four = {4}> { " + lengths + "  y = ReverseSequence <" + attrs + "> (x, l) }";
}

}  // namespace

TEST_CASE("whole sequences of each sample are a Slice backwards") {
  CHECK(rewritten(reverse_sequence_to_slice, graph("[4,3,2]", "l = Identity (all)")) == "Slice");
  CHECK(rewritten(reverse_sequence_to_slice,
                  graph("[3,4,2]", "l = Expand (four, three)", "time_axis = 1, batch_axis = 0")) == "Slice");
  // However long they are.
  CHECK(rewritten(reverse_sequence_to_slice, graph("[T,N,2]",
                                                   "t = Shape <end = 1> (x)  n = Shape <start = 1, end = 2> (x)  "
                                                   "l = Expand (t, n)")) == "Slice");
}

TEST_CASE("other lengths stay") {
  const std::string other = "samples may be of other lengths";
  CHECK(declined(reverse_sequence_to_slice, graph("[4,3,2]", "l = Identity (some)")) == other);
  CHECK(declined(reverse_sequence_to_slice, graph("[5,3,2]", "l = Identity (all)")) == other);
  CHECK(declined(reverse_sequence_to_slice, graph("[T,3,2]", "l = Identity (all)")) == other);
  CHECK(declined(reverse_sequence_to_slice,
                 graph("[T,N,2]", "n = Shape <start = 1, end = 2> (x)  l = Expand (n, n)")) == other);
}
