#include "core/ir/verify.h"

#include "core/base/error.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

Model small() {
  return parse_text(R"(
    <ir_version: 10, opset_import: ["" : 21]>
    main (float[4] x, bool c) => (float[4] y) <float[4] w = {1, 2, 3, 4}> {
      h = Add (x, w)
      y = If (c) <then_branch = a () => (float[4] t) { t = Relu (h) }, else_branch = b () => (float[4] e) { e = Neg (w) }>
    })");
}

bool mentions(const std::vector<std::string>& findings, const std::string& text) {
  for (const std::string& finding : findings)
    if (finding.find(text) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a sound model has no findings") { CHECK(verify(small()).empty()); }

TEST_CASE("the verifier sees what a careless rewrite breaks") {
  Model model = small();
  Graph& g = *model.graph;
  Value* h = g.find("h");
  SECTION("a use that the value does not know of") {
    h->uses.clear();
    CHECK(mentions(verify(model), "'h' does not know by what it is read"));
  }
  SECTION("a value read before it is made") {
    g.move_before(g.nodes()[1], g.nodes()[0]);
    CHECK(mentions(verify(model), "'h' is read before it is defined"));
  }
  SECTION("a wrong producer") {
    h->producer = g.nodes()[1];
    CHECK(mentions(verify(model), "something else makes it"));
  }
  SECTION("an output that nothing makes") {
    g.add_output(g.add_value("lost"));
    CHECK(mentions(verify(model), "output 'lost' is made by nothing"));
  }
  SECTION("a wrong count of outputs") {
    h->output_uses = 1;
    CHECK(mentions(verify(model), "'h' is an output 0 times and says 1"));
  }
  SECTION("a name changed behind the graph's back") {
    h->name = "other";
    CHECK(mentions(verify(model), "'other' is not known by its name"));
  }
  SECTION("a domain that is not imported") {
    g.nodes()[0]->domain = "com.acme";
    CHECK(mentions(verify(model), "its domain 'com.acme' is not imported"));
  }
  SECTION("a body that hides what it captures") {
    g.nodes()[1]->bodies()[0]->add_constant("h2", Tensor::scalar(1.0f));
    Graph* body = g.nodes()[1]->bodies()[0];
    body->find("h2")->name = "h";  // no Graph function would allow it
    CHECK_FALSE(verify(model).empty());
  }
  CHECK_THROWS_AS(require_valid(model, "a pass"), Error);
}
