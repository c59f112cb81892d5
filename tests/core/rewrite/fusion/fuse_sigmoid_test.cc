#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& end, const std::string& number = "1") {
  return "g (double[N,4] x, double[N,4] z) => (double[N,4] y) <double one = {1}, double c = {" + number +
         "}> { n = Neg (x)  e = Exp (n)  a = Add (e, c)  y = " + end + " }";
}

}  // namespace

TEST_CASE("the logistic function is one operator however it is written out") {
  CHECK(rewritten(fusion::fuse_sigmoid, graph("Div (one, a)")) == "Sigmoid");
  CHECK(rewritten(fusion::fuse_sigmoid, graph("Reciprocal (a)")) == "Sigmoid");
  CHECK(rewritten(fusion::fuse_sigmoid, graph("Div (x, a)")) == "Sigmoid Mul");
}

TEST_CASE("other functions of the power stay") {
  CHECK(declined(fusion::fuse_sigmoid, graph("Div (one, a)", "2")) == "another number than 1 is added");
  CHECK(declined(fusion::fuse_sigmoid, graph("Div (z, a)")) == "another value is divided");
  CHECK(declined(fusion::fuse_sigmoid,
                 "g (double[N,4] x) => (double[N,4] y, double[N,4] z) <double one = {1}> "
                 "{ n = Neg (x)  e = Exp (n)  a = Add (e, one)  y = Reciprocal (a)  z = Relu (a) }")
            .find("is used elsewhere too") != std::string::npos);
}
