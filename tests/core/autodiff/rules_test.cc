#include <set>

#include "core/autodiff/rule.h"
#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {

TEST_CASE("every gradient rule is compared with central differences") {
  // By rounding, what passes straight through is no derivative: quantize_test has its formula.
  std::set<std::string> tested = {"mlopt:FakeQuantize"};
  for (const auto family : {attention_cases, binary_cases, convolution_cases, dropout_cases, einsum_cases, gather_cases,
                            layout_cases, legacy_cases, loss_cases, normalization_cases, pool_cases, product_cases,
                            recurrent_cases, reduce_cases, resize_cases, softmax_cases, unary_cases})
    for (const GradCase& row : family()) tested.insert(row.options.domain + ":" + row.op);
  std::vector<std::string> untested;
  std::set<std::string> seen;
  for (const autodiff::GradRule& rule : autodiff::all_rules()) {
    const std::string name = std::string(rule.domain) + ":" + std::string(rule.op);
    INFO(name);
    CHECK(seen.insert(name).second);
    if (!tested.contains(name)) untested.push_back(name);
  }
  CHECK(untested == std::vector<std::string>{});
}

}  // namespace mlopt::test
