#include "graphopt/aliases.h"

#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "graphopt/passes.h"
#include "graphopt/pipelines.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("every alias stands for passes that there are, and is no pass itself") {
  std::set<std::string> names, seen;
  for (const Pass* pass : graphopt::all_passes()) names.emplace(pass->name);
  for (const std::string& alias : graphopt::aliases()) {
    INFO(alias);
    CHECK(seen.insert(alias).second);
    CHECK_FALSE(names.contains(alias));
    const std::vector<std::string> passes = graphopt::passes_of_alias(alias).value();
    for (const std::string& glob : passes) {
      INFO(glob);
      CHECK(std::any_of(names.begin(), names.end(), [&](const std::string& name) { return glob_match(glob, name); }));
    }
  }
  CHECK_FALSE(graphopt::passes_of_alias("eliminate_identity"));
}

TEST_CASE("passes are chosen by the names of other optimizers too") {
  const auto with = [](const graphopt::PassSelection& selection) {
    Model model = test::fixture("g (double[N] x) => (double[N] y) { a = Identity (x)  b = Dropout (a)  y = Neg (b) }");
    graphopt::fuse(model, test::pass_context(), selection);
    return test::operators(*model.graph);
  };
  CHECK(with({{"eliminate_nop_dropout"}, {}}) == "Identity Neg");
  CHECK(with({{}, {"EliminateDropout"}}) == "Dropout Neg");
  CHECK(with({{"adjust_add"}, {}}) == "Identity Dropout Neg");  // there is nothing to do for it
}

TEST_CASE("a slip in another optimizer's name is answered with that name") {
  Model model = test::fixture("g (double[N] x) => (double[N] y) { y = Neg (x) }");
  try {
    graphopt::fuse(model, test::pass_context(), {{"fuse_bn_into_conw"}, {}});
    FAIL("the name is known");
  } catch (const Error& e) {
    CHECK(e.fix.find("fuse_bn_into_conv") != std::string::npos);
  }
}
