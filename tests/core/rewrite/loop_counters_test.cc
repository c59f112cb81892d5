#include "core/rewrite/loop_counters.h"

#include <fmt/core.h>

#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::rewritten;

namespace {

/// Adds x[t] to s for each t of x [T,2]; the condition is `go`, of which `more` may make something.
std::string loop(const std::string& go = "p = Identity (c)", const std::string& more = "u = Add (t, one)",
                 const std::string& first = "begin = Less (zero, steps)") {
  return "g (double[T,2] x) => (double[2] y, double[P,2] z) <int32 zero = {0}, int32 one = {1}, int32 two = {2}, "
         "int64[1] list = {0}, double[2] s = {0, 0}> { all = Shape <start = 0, end = 1> (x)  small = Cast <to = 6> "
         "(all)  steps = Squeeze (small, list)  trips = Cast <to = 7> (steps)  " +
         first +
         "  last, y, z = Loop (trips, begin, zero, s) <body = b (int64 i, bool c, int32 t, double[2] v) => (bool p, "
         "int32 u, double[2] w, double[2] e) { " +
         more + "  r = Gather (x, t)  w = Add (v, r)  e = Neg (w)  " + go + " }> }";
}

/// TensorFlow's own, in floats.
const std::string kWhile =
    "a = Cast <to = 1> (i)  n = Cast <to = 1> (steps)  k = Less (a, n)  l = Cast <to = 1> (u)  m = Less (l, n)  p = "
    "And "
    "(k, m)";

std::string operators(const std::string& text) {
  Model model = test::fixture(text);
  infer(model, test::pass_context().standard_types);
  run_pass(model, loop_counters, test::pass_context());
  const Node* node = model.graph->find("y")->producer;
  return std::to_string(node->inputs().size()) + (node->input(1) ? " begun " : " ") +
         test::operators(*node->bodies()[0]);
}

}  // namespace

TEST_CASE("a counter is the number of the iteration, and a condition that counts to the trip count goes") {
  CHECK(rewritten(loop_counters, loop(kWhile)) == "Shape Cast Squeeze Cast Loop[Cast Gather Add Neg]");
  CHECK(operators(loop(kWhile)) == "3 Cast Gather Add Neg");
}

TEST_CASE("either goes without the other") {
  CHECK(operators(loop()) == "3 begun Cast Gather Add Neg Identity");
  const std::string other = "d = Add (t, two)  u = Sub (d, one)";
  CHECK(operators(loop("p = Less (t, steps)", other)) == "4 begun Add Sub Gather Add Neg Less");
  CHECK(operators(loop("a = Cast <to = 6> (i)  p = Less (a, steps)", other)) == "4 Add Sub Gather Add Neg");
}

TEST_CASE("what counts otherwise stays: from another number, in other steps, or read behind the Loop") {
  for (const char* up : {"u = Add (t, two)", "u = Sub (t, one)", "q = Add (t, one)  u = Neg (q)"})
    CHECK(operators(loop("p = Identity (c)", up)).starts_with("4 "));
  std::string from_one = loop();
  from_one.replace(from_one.find("begin, zero, s"), 14, "begin, one, s");
  CHECK(operators(from_one).starts_with("4 "));
  std::string read = loop();
  read.insert(read.rfind('}'), " after = Neg (last) ");
  read.replace(read.find("double[P,2] z)"), 14, "double[P,2] z, int32 after)");
  CHECK(operators(read).starts_with("4 "));
}

TEST_CASE("a condition that may end it earlier stays") {
  for (const char* go : {"d = Add (u, one)  p = Less (d, steps)", "p = Less (u, one)", "p = Less (steps, u)",
                         "p = Not (c)", "k = Less (u, steps)  p = Or (k, c)",
                         "f = ReduceSum <keepdims = 0> (w)  n = Cast <to = 11> (two)  p = Less (f, n)",
                         "n = Cast <to = 9> (steps)  m = Cast <to = 6> (n)  p = Less (u, m)"})
    CHECK(operators(loop(go)).starts_with("3 begun "));
  CHECK(operators(loop(kWhile, "u = Add (t, one)", "begin = Less (one, steps)")).starts_with("3 begun "));
}

TEST_CASE("conditions are followed however they are joined") {
  std::string go = "a0 = Less (t, steps)  b0 = Less (u, steps)  ";
  constexpr int kJoined = 64;  // each doubles the ways to the first
  for (int k = 0; k < kJoined; ++k) go += fmt::format("a{1} = And (a{0}, b{0})  b{1} = And (b{0}, a{0})  ", k, k + 1);
  CHECK(operators(loop(go + "p = And (a64, b64)")).starts_with("3 Cast "));
}
