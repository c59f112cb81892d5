#include <set>

#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::unroll_loops;
using test::declined;
using test::rewritten;

namespace {

std::string loop(const std::string& trips, const std::string& body, const std::string& condition = "") {
  return "g (double[2] x, bool go) => (double[2] y, double[M,2] z) <int64 n = {" + trips + "}> { y, z = Loop (n, " +
         condition + ", x) <body = b (int64 i, bool c, double[2] v) => (bool k, double[2] w, double[2] s) { " + body +
         " }> }";
}

}  // namespace

TEST_CASE("a Loop that runs a few times becomes its body") {
  const std::string body = "k = Identity (c)  f = Cast <to = 11> (i)  s = Mul (v, f)  w = Add (v, x)";
  CHECK(rewritten(unroll_loops, loop("2", body)).find("Loop") == std::string::npos);
  CHECK(rewritten(unroll_loops, loop("1", body)).find("Concat") == std::string::npos);
}

TEST_CASE("values that are passed on, and captures, are right") {
  CHECK(rewritten(unroll_loops, loop("3", "k = Identity (c)  w = Identity (v)  s = Add (v, x)")).find("Loop") ==
        std::string::npos);
}

TEST_CASE("the counter is a list of one number where the body says so") {
  std::string listed =
      loop("2", "k = Identity (c)  f = Cast <to = 11> (i)  s = Concat <axis = 0> (f, f)  w = Add (v, s)");
  listed.replace(listed.find("int64 i,"), 8, "int64[1] i,");
  CHECK(rewritten(unroll_loops, listed).find("Loop") == std::string::npos);
}

TEST_CASE("the nodes of each trip have names of their own") {
  Model model = test::fixture(loop("3", "k = Identity (c)  s = Neg (v)  w = Add (v, x)"));
  Node* repeated = model.graph->nodes().back();
  REQUIRE(repeated->is("Loop"));
  repeated->name = "loop";
  for (Node* node : repeated->bodies().front()->nodes()) node->name = node->op;
  run_pass(model, unroll_loops, test::pass_context());
  std::multiset<std::string> names;
  for (const Node* node : model.graph->nodes())
    if (!node->name.empty()) names.insert(node->name);
  CHECK(names.size() >= 6);
  for (const std::string& name : names) CHECK(names.count(name) == 1);
}

TEST_CASE("a short Scan becomes its body, a longer one stays") {
  const auto scan = [](const std::string& length) {
    return "g (double[2] s, double[" + length +
           ",2] x) => (double[2] y) { y = Scan (s, x) <num_scan_inputs = 1, body = b (double[2] t, double[2] v) => "
           "(double[2] u) { u = Mul (t, v) }> }";
  };
  CHECK(rewritten(unroll_loops, scan("3")).find("Scan") == std::string::npos);
  CHECK(declined(unroll_loops, scan("65")) == "it runs too often");
}

TEST_CASE("Loops that end early, run long, or as often as an input says, stay") {
  const std::string body = "k = Identity (c)  s = Neg (v)  w = Add (v, x)";
  CHECK(declined(unroll_loops, loop("2", body, "go")) == "a condition may end it earlier");
  CHECK(declined(unroll_loops,
                 loop("2", "l = ReduceSum <keepdims = 0> (v)  k = Less (l, l)  s = Neg (v)  w = Add (v, x)")) ==
        "a condition may end it earlier");
  for (const char* trips : {"1000", "9223372036854775807"})
    CHECK(declined(unroll_loops, loop(trips, body)) == "it runs too often");
  CHECK(declined(unroll_loops, loop("0", body)) == "its body never runs");
  CHECK(declined(unroll_loops, R"(g (int64 n, double[2] x) => (double[2] y) {
    y = Loop (n, , x) <body = b (int64 i, bool c, double[2] v) => (bool k, double[2] w) { k = Identity (c)  w = Neg (v) }> })") ==
        "its trip count is not known");
}
