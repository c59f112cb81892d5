#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// x [batch, heads, rows, 4] turned by the first rows of tables of 16 positions whose halves are the same.
std::string graph(const std::string& turned = "Concat <axis = -1> (n, a)", const std::string& end = "m",
                  const std::string& tables = "T, H, T, H") {
  return "g (float[B,2,N,4] x, float[64,2] H, float[64,2] T) => (float[B,2,N,4] y) "
         "<int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3}, int64[1] four = {4}, "
         "int64[1] last = {-1}> { cos = Concat <axis = 1> (" +
         tables.substr(0, 4) + ")  sin = Concat <axis = 1> (" + tables.substr(6) +
         ")  shape = Shape (x)  m = Gather (shape, two)  c = Slice (cos, zero, " + end +
         ", zero, one)  s = Slice (sin, zero, m, zero, one)  a = Slice (x, zero, two, last)  b = Slice (x, two, four, "
         "last)  n = Neg (b)  h = " +
         turned + "  p = Mul (x, c)  q = Mul (h, s)  y = Add (p, q) }";
}

/// With the tables folded, as they are when the pass runs.
Model folded(const std::string& text) {
  Model model = test::fixture(text, 17);
  const Value *h = model.graph->find("H"), *t = model.graph->find("T");
  for (const char* name : {"cos", "sin"}) {
    Value* v = model.graph->find(name);
    const Value *left = v->producer->input(0), *right = v->producer->input(1);
    Tensor table(DType::kF32, {64, 4});
    for (int64_t i = 0; i < 64; ++i)
      for (int64_t k = 0; k < 4; ++k)
        table.mutable_data<float>()[i * 4 + k] = (k < 2 ? left : right)->constant->data<float>()[i * 2 + k % 2];
    Value* made = model.graph->add_constant(std::string(name) + "_table", table);
    model.graph->replace_uses(v, made);
  }
  CHECK(h != t);
  remove_dead(model);
  return model;
}

}  // namespace

TEST_CASE("the rotation of halves is one operator") {
  CHECK(rewritten(fusion::rope, folded(graph("Concat <axis = -1> (n, a)", "m", "H, H, T, T")), 1e-5, Target::kOrt) ==
        "RotaryEmbedding");
  CHECK(rewritten(fusion::rope, folded(graph("Concat <axis = 3> (n, a)", "m", "T, T, T, T")), 1e-5, Target::kOrt) ==
        "RotaryEmbedding");
}

TEST_CASE("other rotations stay") {
  const auto reasons = [](const std::string& text, Target target = Target::kOrt) {
    Model model = folded(text);
    model.set_opset("com.microsoft", 1);
    infer(model);
    PassContext context;
    context.target = target;
    const PassTally tally = run_pass(model, fusion::rope, context);
    CHECK(tally.applied == 0);
    return tally.declined.empty() ? std::string() : tally.declined.begin()->first;
  };
  const std::string halves = "Concat <axis = -1> (n, a)";
  CHECK(reasons(graph(halves, "m", "H, H, T, T"), Target::kOnnx) ==
        "only ONNX Runtime takes positions from a table's start");
  CHECK(reasons(graph(halves, "m", "H, T, T, T")) == "the halves of the tables differ");
  CHECK(reasons(graph(halves, "three", "H, H, T, T")) == "cosines and sines are not the first rows of constant tables");
  CHECK(reasons(graph("Concat <axis = -1> (a, n)", "m", "H, H, T, T")) == "not a rotation of halves");
}
