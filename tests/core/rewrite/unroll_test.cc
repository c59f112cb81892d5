#include "core/rewrite/unroll.h"

#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using lower::loops;
using test::declined;
using test::rewritten;

// Loops are in tests/graphopt/passes/unroll_loops_test.cc.

namespace {

/// Running products of x along an axis, and what is added up to them.
std::string scan(const std::string& attrs, const std::string& x = "double[3,4] x", const std::string& v = "double[4] v",
                 const std::string& list = "double[M,4] z") {
  return "g (double[4] s, " + x + ") => (double[4] y, " + list + ") { y, z = Scan (s, x) <num_scan_inputs = 1, " +
         attrs + "body = b (double[4] t, " + v +
         ") => (double[4] u, double[4] w) { p = Mul (t, v)  w = Sub (p, v)  u = Add (p, v) }> }";
}

bool is_straight(const std::string& text, int64_t opset = 21) {
  return rewritten(loops, text, opset).find("Scan") == std::string::npos;
}

}  // namespace

TEST_CASE("a Scan of known length becomes its body") {
  CHECK(is_straight(scan("")));
  CHECK(is_straight(scan(""), 11));  // axes by attribute
  CHECK(is_straight(scan("", "double[1,4] x")));
}

TEST_CASE("a Scan goes along any axis in either direction, and so do its lists") {
  CHECK(is_straight(scan("scan_input_directions = [1], ")));
  CHECK(is_straight(scan("scan_output_directions = [1], ")));
  CHECK(is_straight(scan("scan_input_axes = [1], ", "double[4,3] x")));
  CHECK(is_straight(scan("scan_input_axes = [-1], scan_output_axes = [-1], scan_input_directions = [1], ",
                         "double[4,3] x", "double[4] v", "double[4,M] z")));
}

TEST_CASE("a Scan in a Loop is written out with it") {
  const std::string written = rewritten(loops, R"(g (double[2] x, double[3,2] a) => (double[2] y) <int64 n = {2}> {
    y = Loop (n, , x) <body = b (int64 i, bool c, double[2] v) => (bool k, double[2] w) {
      k = Identity (c)
      w = Scan (v, a) <num_scan_inputs = 1, body = d (double[2] s, double[2] e) => (double[2] t) { t = Mul (s, e) }> }> })");
  CHECK(written.find("Scan") == std::string::npos);
  CHECK(written.find("Loop") == std::string::npos);
}

TEST_CASE("Loops that are written out one after the other share no names") {
  const auto loop = [](const std::string& x) {
    return "Loop (n, , " + x + ") <body = b (int64 i, bool c, double[2] s) => (bool k, double[2] w) { " +
           "k = Identity (c)  t = Neg (s)  w = Exp (t) }>  ";
  };
  const std::string written = rewritten(
      loops, "g (double[2] x) => (double[2] y) <int64 n = {2}> { u = " + loop("x") + "y = " + loop("u") + "}");
  CHECK(written.find("Loop") == std::string::npos);
}

TEST_CASE("Scans of unknown or no length, and very long ones, stay") {
  CHECK(declined(loops, scan("", "double[N,4] x")) == "its length is not known");
  CHECK(declined(loops, scan("", "double[0,4] x")) == "its body never runs");
  CHECK(declined(loops, scan("", "double[9999,4] x")) == "it runs too often");
}
