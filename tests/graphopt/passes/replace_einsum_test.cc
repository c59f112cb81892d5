#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::replace_einsum;
using test::declined;
using test::rewritten;

namespace {

std::string einsum(const std::string& equation, const std::string& a, const std::string& b, const std::string& y,
                   const std::string& type = "double") {
  return "g (" + type + "[" + a + "] a, " + type + "[" + b + "] b) => (" + type + "[" + y +
         "] y) { y = Einsum <equation = \"" + equation + "\"> (a, b) }";
}

std::string of_one(const std::string& equation, const std::string& a, const std::string& y) {
  return "g (double[" + a + "] a) => (double[" + y + "] y) { y = Einsum <equation = \"" + equation + "\"> (a) }";
}

}  // namespace

TEST_CASE("Einsum that is a product of matrices becomes MatMul") {
  CHECK(rewritten(replace_einsum, einsum("ij,jk->ik", "N,3", "3,4", "N,4")) == "MatMul");
  CHECK(rewritten(replace_einsum, einsum("bij, bjk -> bik", "N,2,3", "N,3,4", "N,2,4")) == "MatMul");
  CHECK(rewritten(replace_einsum, einsum("bij,jk->bik", "N,2,3", "3,4", "N,2,4")) == "MatMul");
  CHECK(rewritten(replace_einsum, einsum("bhid,bhjd->bhij", "N,2,S,3", "N,2,T,3", "N,2,S,T")) == "Transpose MatMul");
  CHECK(rewritten(replace_einsum, einsum("bij,bjk->bik", "N,2,3", "1,3,4", "N,2,4")) == "MatMul");
  CHECK(rewritten(replace_einsum, einsum("ij,jk->ik", "N,3", "3,4", "N,4", "int64")) == "MatMul");
}

TEST_CASE("operands and results in any order of axes get Transposes, as few as there can be") {
  CHECK(rewritten(replace_einsum, einsum("ij,jk->ki", "2,3", "3,4", "4,2")) == "MatMul Transpose");
  CHECK(rewritten(replace_einsum, einsum("aecd,abcd->acbe", "B,T,2,3", "B,S,2,3", "B,2,S,T")) ==
        "Transpose Transpose MatMul");
  CHECK(rewritten(replace_einsum, einsum("acbe,aecd->abcd", "B,2,S,T", "B,T,2,3", "B,S,2,3")) ==
        "Transpose MatMul Transpose");
}

TEST_CASE("axes of heads become one axis where they are multiplied") {
  CHECK(rewritten(replace_einsum, einsum("abc,cde->abde", "B,S,6", "6,2,3", "B,S,2,3")) == "Reshape MatMul Reshape");
  CHECK(rewritten(replace_einsum, einsum("abcd,cde->abe", "B,S,2,3", "2,3,6", "B,S,6")) == "Reshape Reshape MatMul");
  CHECK(rewritten(replace_einsum, einsum("abcd,dce->abe", "B,S,2,3", "3,2,6", "B,S,6")) ==
        "Reshape Transpose Reshape MatMul");
  CHECK(rewritten(replace_einsum, einsum("bxyk,bkzw->bxyzw", "B,2,3,4", "B,4,5,2", "B,2,3,5,2")) ==
        "Reshape Reshape MatMul Reshape");
  CHECK(rewritten(replace_einsum, einsum("bk,bkz->bz", "B,4", "B,4,5", "B,5")) == "Reshape MatMul Reshape");
  CHECK(declined(replace_einsum, einsum("bxyk,bkzw->bxyzw", "B,M,N,4", "B,4,P,Q", "B,M,N,P,Q")) ==
        "a shape would have to be computed");
}

TEST_CASE("rows whose lengths are not known stay axes behind those of both operands") {
  CHECK(rewritten(replace_einsum, einsum("bshc,btc->bsht", "B,S,4,3", "B,T,3", "B,S,4,T")) ==
        "Transpose Reshape MatMul");
  CHECK(rewritten(replace_einsum, einsum("bxyk,bkzw->bxyzw", "B,M,N,4", "B,4,5,2", "B,M,N,5,2")) ==
        "Reshape MatMul Reshape");
}

TEST_CASE("a weight that is first in the equation is brought to what the variable needs") {
  const std::string text =
      "g (double[B,S,6] x, double[2,3,6] W) => (double[B,S,2,3] y) { y = Einsum <equation = \"dec,abc->abde\"> (W, x) "
      "}";
  CHECK(rewritten(replace_einsum, text) == "Transpose Reshape MatMul Reshape");
}

TEST_CASE("Einsum that sums nothing becomes Mul") {
  CHECK(rewritten(replace_einsum, einsum("i,j->ij", "N", "3", "N,3")) == "Reshape Mul");
  CHECK(rewritten(replace_einsum, einsum("ij,ij->ij", "N,3", "N,3", "N,3")) == "Mul");
  CHECK(rewritten(replace_einsum, einsum("ij,ij->ji", "N,3", "N,3", "3,N")) == "Mul Transpose");
}

TEST_CASE("an ellipsis stands for the last of the other axes") {
  CHECK(rewritten(replace_einsum, einsum("...ij,jk->...ik", "N,2,3", "3,4", "N,2,4")) == "MatMul");
  CHECK(rewritten(replace_einsum, einsum("...ij,...jk->...ik", "N,M,2,3", "M,3,4", "N,M,2,4")).ends_with("MatMul"));
  CHECK(rewritten(replace_einsum, einsum("ij...,jk->ik...", "2,3,N", "3,4", "2,4,N")).ends_with("Transpose"));
  CHECK(rewritten(replace_einsum, einsum("...ij,jk", "N,2,3", "3,4", "N,2,4")) == "MatMul");
  CHECK(rewritten(replace_einsum, einsum("ba,bc", "3,N", "3,4", "N,4")) == "Transpose MatMul");
}

TEST_CASE("Einsum of one operand becomes Transpose and ReduceSum") {
  CHECK(rewritten(replace_einsum, of_one("abc->cab", "N,2,3", "3,N,2")) == "Transpose");
  CHECK(rewritten(replace_einsum, of_one("ab->a", "2,3", "2")) == "ReduceSum");
  CHECK(rewritten(replace_einsum, of_one("abc->ca", "N,2,3", "3,N")) == "ReduceSum Transpose");
  CHECK(rewritten(replace_einsum, of_one("ba", "N,3", "3,N")) == "Transpose");
}

TEST_CASE("diagonals, three operands, other sums and axes that may broadcast stay") {
  const std::string form = "its equation is another form";
  CHECK(declined(replace_einsum, einsum("ii,ij->ij", "2,2", "2,3", "2,3")) == form);
  CHECK(declined(replace_einsum, of_one("aa->a", "2,2", "2")) == form);
  CHECK(declined(replace_einsum, einsum("ij,jk->i", "2,3", "3,4", "2")) == "it sums an axis of one operand alone");
  CHECK(declined(replace_einsum, einsum("ij,ij->i", "2,3", "2,3", "2")) == "it multiplies rows by rows");
  CHECK(declined(replace_einsum, einsum("ij,jk->ik", "2,K", "3,4", "2,4")) ==
        "its operands may broadcast along an axis that it sums");
  CHECK(declined(replace_einsum,
                 "g (double[2,3] a, double[3] b) => (double[2,3] y) { y = Einsum <equation = \"ij,j,j->ij\"> (a, b, b) "
                 "}") == "it has more than two operands");
  CHECK(declined(replace_einsum, einsum("ij,jk->ik", "N,3", "3,4", "N,4", "int8")) == "MatMul has not its type");
}
