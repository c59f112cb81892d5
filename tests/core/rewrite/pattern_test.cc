#include "core/rewrite/pattern.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// The pattern at the last node of the graph.
std::optional<Expected<Match>> match(const Pattern& pattern, const Model& model) {
  return pattern.match(model.graph->nodes().back());
}

const char* const kConvBias = "g (double[1,1,2,2] x, double[1,1,1,1] W, double[1] B) => (double[1,1,2,2] y)";

Pattern conv_times_constant() {
  return Pattern::op("Mul",
                     {Pattern::op("Conv", {Pattern::any("x"), Pattern::constant("w"), Pattern::optional_constant("b")})
                          .as("conv")
                          .single_use(),
                      Pattern::constant("c")})
      .any_order();
}

}  // namespace

TEST_CASE("a match names what it captured, in either order") {
  for (const char* product : {"Mul (a, B)", "Mul (B, a)"}) {
    const Model model = test::fixture(std::string(kConvBias) + " { a = Conv (x, W)  y = " + product + " }");
    const auto found = match(conv_times_constant(), model);
    REQUIRE(found);
    REQUIRE(*found);
    const Match& m = **found;
    CHECK(m.root == model.graph->nodes()[1]);
    CHECK(m.node("conv") == model.graph->nodes()[0]);
    CHECK(m.value("x") == model.graph->find("x"));
    CHECK(m.constant("w").size() == 1);
    CHECK(m.value("c") == model.graph->find("B"));
    CHECK_FALSE(m.has("b"));
  }
}

TEST_CASE("other operators, domains, inputs and outputs do not match at all") {
  const auto none = [](const std::string& nodes) {
    const Model model = test::fixture(std::string(kConvBias) + " {" + nodes + "}");
    return !match(conv_times_constant(), model).has_value();
  };
  CHECK(none("a = Conv (x, W)  y = Add (a, B)"));
  CHECK(none("a = Relu (x)  y = Mul (a, B)"));
  CHECK(none("a = local.Conv (x, W)  y = Mul (a, B)"));
  CHECK(none("a = Conv (x, W)  y = local.Mul (a, B)"));
  CHECK(none("i, a = local.Conv (x, W)  y = Mul (a, B)"));
}

TEST_CASE("a near miss says why") {
  const auto reason = [](const std::string& nodes) {
    const Model model = test::fixture(std::string(kConvBias) + " {" + nodes + "}");
    const auto found = match(conv_times_constant(), model);
    REQUIRE(found);
    REQUIRE_FALSE(*found);
    return found->error().reason;
  };
  CHECK(reason("a = Conv (x, x)  y = Mul (a, B)") == "'x' is not constant");
  CHECK(reason("a = Conv (x, W)  y = Mul (a, x)") == "'x' is not constant");
  CHECK(reason("a = Conv (x, W)  b = Mul (a, a)  y = Mul (a, B)") ==
        "the result of Conv giving 'a' is used elsewhere too");
  CHECK(reason("[stem] y = Conv (x, W)  z = Mul (y, B)") == "the result of Conv 'stem' is used elsewhere too");
}

TEST_CASE("further inputs are allowed only where the pattern is open") {
  const Model model = test::fixture("g (double[4] x, int64[1] A, int64[1] B) => (double[M] y) { y = Slice (x, A, B) }");
  CHECK_FALSE(match(Pattern::op("Slice", {Pattern::any("x")}), model));
  CHECK(match(Pattern::op("Slice", {Pattern::any("x")}).open(), model));
}

TEST_CASE("a pattern stays in one graph, but captures constants from outside") {
  const Model model =
      test::fixture(R"(g (double[1,1,2,2] x, double[1,1,1,1] W, double[1] B, bool c) => (double[1,1,2,2] y) {
    a = Conv (x, W)
    y = If (c) <then_branch = t () => (double[1,1,2,2] p) { p = Mul (a, B) },
                else_branch = e () => (double[1,1,2,2] q) { d = Conv (x, W)  q = Mul (d, B) }>
  })");
  const std::vector<Graph*> bodies = model.graph->nodes().back()->bodies();
  CHECK_FALSE(conv_times_constant().match(bodies[0]->nodes().back()));
  CHECK(conv_times_constant().match(bodies[1]->nodes().back()));
}
