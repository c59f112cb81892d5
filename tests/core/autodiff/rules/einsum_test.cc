#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {

std::vector<GradCase> einsum_cases() {
  const auto row = [](const char* equation, std::vector<Datum> inputs) {
    return GradCase{"Einsum", std::move(inputs), {.attrs = {attr("equation", equation)}}};
  };
  const Tensor a = real({2, 3}), b = real({3, 4}, -2, 2, 2), batch = real({5, 2, 3}), other = real({5, 3, 4}, -2, 2, 2);
  return {
      row("ij,jk->ik", {a, b}),
      row("ij,jk", {a, b}),
      row("ij->ji", {a}),
      row("bij,bjk->bik", {batch, other}),
      row("bij , bjk -> kb", {batch, other}),
      row("...ij,...jk->...ik", {batch, real({1, 3, 4}, -2, 2, 2)}),
      row("...ij,jk", {batch, b}),
      row("...i->...", {batch}),
      row("...i->i", {batch}),
      row("ij->i", {a}),
      row("ij->", {a}),
      row("ij,ij,ij->j", {a, real({2, 3}, -2, 2, 2), real({2, 3}, -2, 2, 3)}),
      row(",i->i", {real({}), real({3}, -2, 2, 2)}),
      row("i,->i", {real({3}), real({}, -2, 2, 2)}),
      row("i,j->ij", {real({3}), real({4}, -2, 2, 2)}),
      row("ij,jk->k", {a, b}),
      row("abc,bc->ac", {batch, real({1, 3}, -2, 2, 2)}),
      row("bc,abc->ac", {real({1, 3}, -2, 2, 2), batch}),
  };
}

TEST_CASE("gradients of Einstein sums") { check_gradients(einsum_cases()); }

}  // namespace mlopt::test
