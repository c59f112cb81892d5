#include "core/ir/infer.h"
#include "core/ir/view.h"
#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::replace_einsum;
using graphopt::split_einsum;
using test::declined;
using test::rewritten;

namespace {

/// An Einsum of values of those dimensions.
std::string einsum(const std::string& equation, const std::vector<std::string>& dims, const std::string& y,
                   const std::string& type = "double") {
  std::string inputs, operands;
  for (size_t i = 0; i < dims.size(); ++i) {
    const std::string name(1, static_cast<char>('p' + i)), comma = i == 0 ? "" : ", ";
    inputs += comma + type + "[" + dims[i] + "] " + name;
    operands += comma + name;
  }
  return "g (" + inputs + ") => (" + type + "[" + y + "] y) { y = Einsum <equation = \"" + equation + "\"> (" +
         operands + ") }";
}

/// The equations that it becomes, having required that they give the same.
std::string parts(const std::string& graph) {
  CHECK(rewritten(split_einsum, graph).starts_with("Einsum Einsum"));
  Model model = test::fixture(graph);
  const PassContext context = test::pass_context();
  infer(model, context.standard_types);
  run_pass(model, split_einsum, context);
  std::string all;
  for (const Node* node : model.graph->nodes())
    all += (all.empty() ? "" : " ") + NodeView(*node, 21).get_string("equation", "");
  return all;
}

/// The operators of what replace_einsum makes of the parts, having required that they give the same.
std::string products(const std::string& graph) {
  const Model source = test::fixture(graph);
  Model model = test::fixture(graph);
  const PassContext context = test::pass_context();
  infer(model, context.standard_types);
  for (const Pass* pass : {&split_einsum, &replace_einsum}) CHECK(run_pass(model, *pass, context).applied > 0);
  test::require_same_model(source, model, 1e-12);
  return test::operators(*model.graph);
}

}  // namespace

TEST_CASE("Einsum of three operands becomes two of two, which are products") {
  const std::string free = einsum("bhnd,bhde,bhn->bhne", {"N,2,T,3", "N,2,3,4", "N,2,T"}, "N,2,T,4");
  CHECK(parts(free) == "bhnd,bhde->bhne bhne,bhn->bhne");
  CHECK(products(free) == "MatMul Reshape Mul");
  const std::string fixed = einsum("bhnd,bhde,bhn->bhne", {"2,2,5,3", "2,2,3,4", "2,2,5"}, "2,2,5,4");
  CHECK(parts(fixed) == "bhnd,bhn->bhnd bhnd,bhde->bhne");
  CHECK(products(fixed) == "Reshape Mul MatMul");
  CHECK(parts(einsum("bi,ir,ro", {"N,4", "4,2", "2,5"}, "N,5")) == "bi,ir->br br,ro->bo");
}

TEST_CASE("Einsum of four operands becomes three of two, the smallest product first") {
  const std::string equation = "bclhn,bcshn,bhcls,bcshp->bclhp";
  const std::string free = einsum(equation, {"N,2,3,2,4", "N,2,3,2,4", "N,2,2,3,3", "N,2,3,2,5"}, "N,2,3,2,5");
  CHECK(parts(free) == "bclhn,bcshn->bchls bchls,bhcls->bchls bchls,bcshp->bclhp");
  CHECK(products(free).find("Einsum") == std::string::npos);
  const std::string fixed = einsum(equation, {"2,1,3,2,4", "2,1,3,2,4", "2,2,1,3,3", "2,1,3,2,5"}, "2,1,3,2,5");
  CHECK(products(fixed).find("Einsum") == std::string::npos);
}

TEST_CASE("of known sizes that pair goes first whose product has the fewest elements") {
  CHECK(parts(einsum("ij,jk,kl->il", {"9,2", "2,8", "8,3"}, "9,3")) == "jk,kl->jl ij,jl->il");
  CHECK(parts(einsum("ij,jk,kl->il", {"3,8", "8,2", "2,9"}, "3,9")) == "ij,jk->ik ik,kl->il");
  CHECK(parts(einsum("ij,j,j->ij", {"N,3", "3", "3"}, "N,3")) == "j,j->j ij,j->ij");
}

TEST_CASE("axes of length 1 are repeated as before") {
  CHECK(parts(einsum("ij,jk,ik->ik", {"4,1", "3,5", "1,5"}, "4,5")) == "ij,jk->ik ik,ik->ik");
}

TEST_CASE("ellipses, diagonals, lone sums, larger products and other types stay") {
  CHECK(declined(split_einsum, einsum("...ij,jk,kl->...il", {"N,2,3", "3,4", "4,5"}, "N,2,5")) ==
        "its equation has an ellipsis");
  CHECK(declined(split_einsum, einsum("ii,ij,j->ij", {"2,2", "2,3", "3"}, "2,3")) == "its equation is another form");
  CHECK(declined(split_einsum, einsum("ij,kj,l->ik", {"2,3", "4,3", "5"}, "2,4")) ==
        "it sums an axis of one operand alone");
  CHECK(declined(split_einsum, einsum("ax,bx,cx->x", {"4,2", "4,2", "4,2"}, "2")) ==
        "it sums an axis of one operand alone");
  CHECK(declined(split_einsum, einsum("ab,ac,ad,bc,bd,cd->a", std::vector<std::string>(6, "2,2"), "2")) ==
        "the product of any two of its operands is larger than all else");
  for (const std::string type : {"int8", "float16", "int64"})
    CHECK(declined(split_einsum, einsum("ij,jk,kl->il", {"2,3", "3,4", "4,5"}, "2,5", type)) ==
          "it is not of float32 or float64");
  CHECK(declined(split_einsum, einsum("ij,jk->ik", {"2,3", "3,4"}, "2,4")).empty());
}
