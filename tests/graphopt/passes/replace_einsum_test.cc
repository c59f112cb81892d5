#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::replace_einsum;
using test::declined;
using test::rewritten;

namespace {

std::string einsum(const std::string& equation, const std::string& a, const std::string& b, const std::string& y) {
  return "g (double[" + a + "] a, double[" + b + "] b) => (double[" + y + "] y) { y = Einsum <equation = \"" +
         equation + "\"> (a, b) }";
}

}  // namespace

TEST_CASE("Einsum that is a product of matrices becomes MatMul") {
  CHECK(rewritten(replace_einsum, einsum("ij,jk->ik", "N,3", "3,4", "N,4")) == "MatMul");
  CHECK(rewritten(replace_einsum, einsum("bij, bjk -> bik", "N,2,3", "N,3,4", "N,2,4")) == "MatMul");
  CHECK(rewritten(replace_einsum, einsum("bij,jk->bik", "N,2,3", "3,4", "N,2,4")) == "MatMul");
  CHECK(rewritten(replace_einsum, einsum("bhid,bhjd->bhij", "N,2,S,3", "N,2,T,3", "N,2,S,T")) == "Transpose MatMul");
}

TEST_CASE("Einsum that orders axes becomes Transpose") {
  CHECK(rewritten(replace_einsum,
                  "g (double[N,2,3] a) => (double[3,N,2] y) { y = Einsum <equation = \"abc->cab\"> (a) }") ==
        "Transpose");
}

TEST_CASE("sums, diagonals, other orders and axes that may broadcast stay") {
  const std::string other = "it is no product of matrices in order", form = "its equation is another form";
  CHECK(declined(replace_einsum, einsum("ij,jk->ki", "2,3", "3,4", "4,2")) == other);
  CHECK(declined(replace_einsum, einsum("ij,ij->ij", "2,3", "2,3", "2,3")) == other);
  CHECK(declined(replace_einsum, einsum("ii,ij->ij", "2,2", "2,3", "2,3")) == form);
  CHECK(declined(replace_einsum, einsum("...ij,jk->ik", "2,3", "3,4", "2,4")) == form);
  CHECK(declined(replace_einsum, einsum("ij,jk", "2,3", "3,4", "2,4")) == form);
  CHECK(declined(replace_einsum, einsum("ij,jk->ik", "2,K", "3,4", "2,4")) ==
        "its operands may broadcast along the axis that it sums");
  CHECK(declined(replace_einsum, "g (double[2,3] a) => (double[2] y) { y = Einsum <equation = \"ab->a\"> (a) }") ==
        "it does more than order axes");
}
