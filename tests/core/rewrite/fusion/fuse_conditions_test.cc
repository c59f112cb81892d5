#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

TEST_CASE("conditions that are multiplied as numbers are joined") {
  CHECK(rewritten(fusion::fuse_conditions, R"(g (bool[B,1,N] a, bool[N,N] b) => (double[B,N,N] y)
    { p = Cast <to = 11> (a)  q = Cast <to = 11> (b)  y = Mul (p, q) })") == "And Cast");
  CHECK(rewritten(fusion::fuse_conditions, R"(g (bool[N] a, bool[N] b) => (int32[N] y, int32[N] z)
    { p = Cast <to = 6> (a)  q = Cast <to = 6> (b)  y = Mul (p, q)  z = Neg (p) })") == "Cast And Cast Neg");
}

TEST_CASE("numbers, conditions that are numbers elsewhere too, and opsets without broadcasting stay") {
  CHECK(declined(fusion::fuse_conditions, R"(g (bool[N] a, int64[N] b) => (double[N] y)
    { p = Cast <to = 11> (a)  q = Cast <to = 11> (b)  y = Mul (p, q) })") == "they are no conditions");
  CHECK(declined(fusion::fuse_conditions, R"(g (bool[N] a, bool[N] b) => (double[N] y, double[N] z)
    { p = Cast <to = 11> (a)  q = Cast <to = 11> (b)  y = Mul (p, q)  z = Sub (p, q) })") ==
        "both are used as numbers elsewhere");
  CHECK(declined(fusion::fuse_conditions, R"(g (bool[N] a, bool[N] b) => (double[N] y)
    { p = Cast <to = 11> (a)  q = Cast <to = 11> (b)  y = Mul (p, q) })",
                 6) == "its opset broadcasts in another way");
  CHECK(declined(fusion::fuse_conditions, R"(g (bool[N] a, bool[N] b) => (double[N] y)
    { p = Cast <to = 11> (a)  q = Cast <to = 11> (b)  y = Add (p, q) })")
            .empty());
}

TEST_CASE("numbers become a condition before they are given further axes") {
  const auto graph = [](const std::string& from, const std::string& to, const std::string& more = "") {
    return "g (" + from + "[B,N] x) => (" + to + "[B,1,N] y" + (more.empty() ? "" : ", int32[B,1,N] z") +
           ") <int64[1] one = {1}> { u = Unsqueeze (x, one)  y = Cast <to = " + (to == "bool" ? "9" : "1") + "> (u) " +
           more + " }";
  };
  CHECK(rewritten(fusion::fuse_conditions, graph("int32", "bool")) == "Cast Unsqueeze");
  CHECK(declined(fusion::fuse_conditions, graph("int32", "float")) == "it makes no condition");
  CHECK(declined(fusion::fuse_conditions, graph("bool", "bool")) == "it is a condition already");
  CHECK(declined(fusion::fuse_conditions, graph("int32", "bool", "z = Neg (u)")) != "");
}
