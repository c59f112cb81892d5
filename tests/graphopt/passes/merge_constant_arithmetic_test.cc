#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::merge_constant_arithmetic;
using test::declined;
using test::rewritten;

TEST_CASE("two constant summands or factors become one") {
  for (const char* const first : {"Add", "Sub", "Mul", "Div"})
    for (const char* const second : {"Add", "Sub", "Mul", "Div"}) {
      const auto sum = [](std::string op) { return op == "Add" || op == "Sub"; };
      if (sum(first) != sum(second)) continue;
      CHECK(rewritten(merge_constant_arithmetic,
                      "g (double[N,3] x, double[3] A, double[1,1] B) => (double[N,3] y) { a = " + std::string(first) +
                          " (x, A)  y = " + second + " (a, B) }") == first);
    }
  CHECK(rewritten(merge_constant_arithmetic, R"(g (double[N,3] x, double[3] A, double[3] B) => (double[N,3] y)
    { a = Add (A, x)  y = Add (B, a) })") == "Add");
}

TEST_CASE("sums of products, integers, other shapes and second readers stay") {
  const auto graph = [](const std::string& type, const std::string& b, const std::string& ops) {
    return "g (" + type + "[N,3] x, " + type + "[1,3] A, " + type + b + " B) => (" + type + "[N,3] y) { " + ops + " }";
  };
  const auto declines = [&](const std::string& text, const std::string& reason) {
    return declined(merge_constant_arithmetic, text).find(reason) != std::string::npos;
  };
  CHECK(declines(graph("double", "[3]", "a = Mul (x, A)  y = Add (a, B)"), "a sum and a product"));
  CHECK(declines(graph("int64", "[1,3]", "a = Add (x, A)  y = Add (a, B)"), "does not fit the type"));
  CHECK(
      declines("g (double[2,3] x, double[1,3] A, double[2,1] B) => (double[2,3] y) { a = Add (x, A)  y = Add (a, B) }",
               "different shapes"));
  CHECK(declines(
      "g (double[3] x, double[3] A, double[3] B) => (double[3] y, double[3] a) { a = Add (x, A)  y = Add (a, B) }",
      "used elsewhere"));
  CHECK(declines("g (double[3] x, double[3] c, double[3] A) => (double[3] y) { a = Add (x, c)  y = Add (a, A) }",
                 "is not constant"));
}

TEST_CASE("factors whose product would lose its bits stay two") {
  const auto scaled = [](const std::string& type, const std::string& factor) {
    return "g (" + type + "[N] x) => (" + type + "[N] y) <" + type + " a = {" + factor + "}, " + type + " b = {" +
           factor + "}> { p = Mul (x, a)  y = Mul (p, b) }";
  };
  const std::string reason = "its constants have different shapes, or their result does not fit the type";
  CHECK(declined(merge_constant_arithmetic, scaled("float16", "5145")) == reason);  // 0.001
  CHECK(declined(merge_constant_arithmetic, scaled("float", "0.0000000000000000000000001")) == reason);
  CHECK(rewritten(merge_constant_arithmetic, scaled("float", "0.001"), 21, 1e-6) == "Mul");
}
