#include "core/ir/reads.h"

#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

TEST_CASE("a node reads its inputs and what its bodies capture, and bodies belong to a node of the main graph") {
  const Model model = test::fixture(
      "g (bool c, float[2] x, float[2] z) => (float[2] y) {"
      "y = If (c) <then_branch = t () => (float[2] a) { a = Add (x, z) },"
      "else_branch = e () => (float[2] b) { b = Neg (x) }> }",
      17);
  const Node* node = model.graph->next(nullptr);
  std::vector<std::string> names;
  for (const Value* v : read_by(*node)) names.push_back(v->name);
  CHECK(names[0] == "c");
  for (const char* name : {"x", "z"}) CHECK(std::find(names.begin(), names.end(), name) != names.end());
  CHECK(outermost(node) == node);
  for (const Graph* body : node->bodies()) CHECK(outermost(body->nodes()[0]) == node);
}
