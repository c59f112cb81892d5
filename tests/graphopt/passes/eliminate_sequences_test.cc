#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::eliminate_sequences;
using test::declined;
using test::rewritten;

TEST_CASE("sequences whose items are known go") {
  CHECK(rewritten(eliminate_sequences, R"(g (double[N] x, double[N] z) => (double[N] y) <int64 last = {-1}>
    { s = SequenceConstruct (x, z)  a = SequenceAt (s, last)  y = Neg (a) })") == "Neg");
  CHECK(rewritten(eliminate_sequences, R"(g (double[N] x, double[M] z) => (double[L] y)
    { s = SequenceConstruct (x, z)  y = ConcatFromSequence <axis = 0> (s) })") == "Concat");
  CHECK(rewritten(eliminate_sequences, R"(g (double[N] x) => (int64 y)
    { s = SequenceConstruct (x, x)  l = SequenceLength (s)  y = Neg (l) })") == "Neg");
}

TEST_CASE("positions that are not known or not valid, and new axes, stay") {
  CHECK(declined(eliminate_sequences, R"(g (double[N] x, int64 i) => (double[N] y)
    { s = SequenceConstruct (x, x)  y = SequenceAt (s, i) })") == "'i' is not constant");
  CHECK(declined(eliminate_sequences, R"(g (double[N] x) => (double[N] y) <int64 i = {2}>
    { s = SequenceConstruct (x, x)  y = SequenceAt (s, i) })") == "its position is not valid");
  CHECK(declined(eliminate_sequences, R"(g (double[N] x) => (double[2,N] y)
    { s = SequenceConstruct (x, x)  y = ConcatFromSequence <axis = 0, new_axis = 1> (s) })") == "it adds an axis");
}
