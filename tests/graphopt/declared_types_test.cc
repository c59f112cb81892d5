#include "graphopt/declared_types.h"

#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// The shape of the inner value a, of which the file states another, after passes have run.
std::string restored(const std::string& stated) {
  Model model = test::fixture("g (float[2,8] x) => (float[2,8] y) <" + stated + " a> { a = Relu (x)  y = Neg (a) }");
  REQUIRE(model.graph->find("a")->declared);
  const graphopt::DeclaredTypes declared(model);
  CHECK_FALSE(model.graph->find("a")->type.dims);
  infer(model);
  declared.restore(model);
  return to_string(*model.graph->find("a")->type.dims);
}

}  // namespace

TEST_CASE("what a file states of an inner value stays stated, where it may be true") {
  CHECK(restored("float[2,8]") == "[2,8]");
  CHECK(restored("float[2,M]") == "[2,M]");
}

TEST_CASE("what is wrong is not written again") {
  CHECK(restored("float[2,4]") == "[2,8]");
  CHECK(restored("float[16]") == "[2,8]");
}

TEST_CASE("a size of 0 that a file states of what an unknown operator gives is not known") {
  Model model = test::fixture(R"(g (float[2,8] x) => (float[M,N] y) <float[0,8] a>
    { a = com.example.Unknown (x)  y = Neg (a) })");
  const graphopt::DeclaredTypes declared(model);
  const SymDims& dims = *model.graph->find("a")->type.dims;
  CHECK_FALSE(dims[0].known());
  CHECK(dims[1].is(8));
}

TEST_CASE("bodies are known again by any output of their node that is left") {
  Model model = test::fixture(
      "g (float[N,8] x, int64 n) => (float[A,B] y) <bool yes = {1}> { k, y = Loop (n, , n, x) <body = b (int64 i, bool "
      "c, int64 j, float[C,8] s) => (bool yes, int64 j2, float[C,8] t) { j2 = Identity (j)  t = Relu (s) }> }",
      18);
  const graphopt::DeclaredTypes declared(model);
  Graph& body = *model.graph->find("y")->producer->bodies()[0];
  CHECK_FALSE(body.find("t")->type.dims);
  model.graph->drop_output(model.graph->find("k")->producer, 0);
  declared.restore(model);
  CHECK(to_string(*body.find("t")->type.dims) == "[C,8]");
}
