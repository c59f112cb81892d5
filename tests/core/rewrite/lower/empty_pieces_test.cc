#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string graph(const std::string& pieces) {
  return "g (double[2,3] x, double[2,0] none, double[2,N] some) => (double[2,M] y) { y = Concat <axis = 1> (" + pieces +
         ") }";
}

}  // namespace

TEST_CASE("pieces without elements are left out") {
  CHECK(test::rewritten(lower::empty_pieces, graph("none, x, some")) == "Concat");
  CHECK(test::rewritten(lower::empty_pieces, graph("x, none")) == "Identity");
}

TEST_CASE("pieces that may have elements stay") {
  CHECK(test::declined(lower::empty_pieces, graph("x, some")) == "all pieces have elements, or none");
  CHECK(test::declined(lower::empty_pieces, graph("none, none")) == "all pieces have elements, or none");
}
