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

TEST_CASE("items that are put in one after the other are known") {
  const std::string list =
      "g (double[N,2] x, double[N,2] z) => (double[L,2] y) <int64 first = {0}, int64 before = {-1}> "
      "{ e = SequenceEmpty <dtype = 11> ()  a = SequenceInsert (e, x)  ";
  CHECK(rewritten(eliminate_sequences, list + "b = SequenceInsert (a, z)  y = ConcatFromSequence <axis = 0> (b) }") ==
        "Concat");
  CHECK(rewritten(eliminate_sequences, list + "b = SequenceInsert (a, z, first)  c = SequenceInsert (b, x, before) "
                                              "y = ConcatFromSequence <axis = 0> (c) }") == "Concat");
  CHECK(declined(eliminate_sequences,
                 "g (double[N] x, int64 i) => (double[L] y) { a = SequenceConstruct (x)  b = "
                 "SequenceInsert (a, x, i)  y = ConcatFromSequence <axis = 0> (b) }") ==
        "its position is not one number");
}

TEST_CASE("items that are stacked get an axis each") {
  CHECK(rewritten(eliminate_sequences, R"(g (double[N] x, double[N] z) => (double[N,2] y)
    { s = SequenceConstruct (x, z)  y = ConcatFromSequence <axis = -1, new_axis = 1> (s) })") ==
        "Unsqueeze Unsqueeze Concat");
  CHECK(declined(eliminate_sequences, R"(g (double[N] x) => (double[2,N] y)
    { s = SequenceConstruct (x, x)  y = ConcatFromSequence <axis = 0, new_axis = 1> (s) })",
                 12) == "Unsqueeze takes its axes from opset 13 on");
}

TEST_CASE("positions that are not known or not valid stay") {
  CHECK(declined(eliminate_sequences, R"(g (double[N] x, int64 i) => (double[N] y)
    { s = SequenceConstruct (x, x)  y = SequenceAt (s, i) })") == "'i' is not constant");
  CHECK(declined(eliminate_sequences, R"(g (double[N] x) => (double[N] y) <int64 i = {2}>
    { s = SequenceConstruct (x, x)  y = SequenceAt (s, i) })") == "its position is not valid");
}
