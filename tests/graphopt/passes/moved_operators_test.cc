// The operators that push_transposes moves: its tests have those of one input, sums and Concat.
#include "graphopt/passes/moved_operators.h"

#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::push_transposes;
using test::declined;
using test::rewritten;

namespace {

/// An operator that reads v between two Transposes that undo each other.
std::string between(const std::string& node, const std::string& constants) {
  return "g (double[N,2,3,4] x, double[3,4,2] K, double[2] C) => (double[N,P,Q,R] y) <" + constants +
         "> { v = Transpose <perm = [0, 2, 3, 1]> (x)  w = " + node + "  y = Transpose <perm = [0, 3, 1, 2]> (w) }";
}

}  // namespace

TEST_CASE("axes of softmax, slices and pads move with their Transpose") {
  CHECK(rewritten(push_transposes, between("Softmax <axis = -1> (v)", "")) == "Softmax Transpose Transpose");
  CHECK(rewritten(push_transposes,
                  between("Slice (v, s, e, a)", "int64[2] s = {1, 0}, int64[2] e = {3, 1}, int64[2] a = {2, -1}")) ==
        "Slice Transpose Transpose");
  CHECK(rewritten(push_transposes, between("Pad (v, p)", "int64[8] p = {0, 1, 0, 0, 0, 0, 2, 3}")) ==
        "Pad Transpose Transpose");
  CHECK(rewritten(push_transposes,
                  between("Pad <mode = \"reflect\"> (v, p, , a)", "int64[4] p = {1, 0, 2, 1}, int64[2] a = {1, 2}")) ==
        "Pad Transpose Transpose");
  CHECK(rewritten(push_transposes, between("Pad <pads = [0, 1, 0, 0, 0, 0, 2, 3]> (v)", "double[1] unused = {0}"),
                  10) == "Pad Transpose Transpose");
}

TEST_CASE("a constant is read by the axes that it has before") {
  CHECK(rewritten(push_transposes, between("Add (v, C)", "")) == "Add Transpose Transpose");
  const std::string other = "its inputs are not transposed in one way";
  CHECK(declined(push_transposes, between("Add (v, K)", "")) == other);  // its elements would lie in another order
  CHECK(rewritten(push_transposes, R"(g (double[1,3,4] x, double[3,4] K) => (double[1,3,4] y) <int64[1] first = {0}>
    { a = Squeeze (x, first)  b = Mul (K, a)  y = Unsqueeze (b, first) })") == "Mul Squeeze Unsqueeze");
}

TEST_CASE("what depends on how rows lie, or on what is not known, stays") {
  const std::string other = "its inputs are not transposed in one way";
  CHECK(declined(push_transposes, between("Softmax <axis = 3> (v)", "double[1] unused = {0}"), 12) == other);
  CHECK(declined(push_transposes, between("Slice (v, s, e)", "int64[1] s = {0}, int64[1] e = {1}")) == other);
  CHECK(declined(push_transposes, R"(g (double[N,2,3,4] x, int64[8] p) => (double[N,P,Q,R] y)
    { v = Transpose <perm = [0, 2, 3, 1]> (x)  w = Pad (v, p)  y = Transpose <perm = [0, 3, 1, 2]> (w) })") == other);
}
