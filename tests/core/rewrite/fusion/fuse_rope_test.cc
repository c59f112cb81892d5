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
Model folded(const std::string& text, int64_t rows = 64) {
  Model model = test::fixture(text, 17);
  const Value *h = model.graph->find("H"), *t = model.graph->find("T");
  for (const char* name : {"cos", "sin"}) {
    Value* v = model.graph->find(name);
    const Value *left = v->producer->input(0), *right = v->producer->input(1);
    Tensor table(DType::kF32, {rows, 4});
    for (int64_t i = 0; i < rows; ++i)
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
  CHECK(rewritten(fusion::fuse_rope, folded(graph("Concat <axis = -1> (n, a)", "m", "H, H, T, T")), 1e-5,
                  Target::kOrt) == "RotaryEmbedding");
  CHECK(rewritten(fusion::fuse_rope, folded(graph("Concat <axis = 3> (n, a)", "m", "T, T, T, T")), 1e-5,
                  Target::kOrt) == "RotaryEmbedding");
  Model model = folded(graph("Concat <axis = -1> (n, a)", "m", "H, H, T, T"));
  model.set_opset("", 23);
  CHECK(rewritten(fusion::fuse_rope, model, 1e-5) ==
        "Shape Gather Slice Shape Gather Concat Expand Slice Shape Gather Concat Expand RotaryEmbedding");
}

TEST_CASE("tables of as many rows as there are need no Slice") {
  const auto whole = [](const std::string& dims, const std::string& cosines) {
    return "g (float[2,2,3,4] x) => (float[2,2,3,4] y) <int64[2] halves = {2, 2}, float" + dims + " c = {" + cosines +
           "}, float" + dims +
           " s = {0, 0.9, 0, 0.9, 0.8, 0.1, 0.8, 0.1, 0.9, 0.2, 0.9, 0.2}> "
           "{ a, b = Split <axis = -1> (x, halves)  n = Neg (b)  h = Concat <axis = -1> (n, a) "
           "p = Mul (x, c)  q = Mul (h, s)  y = Add (p, q) }";
  };
  const std::string alike = "1, 0.4, 1, 0.4, 0.6, 1, 0.6, 1, -0.4, 1, -0.4, 1";
  for (const char* dims : {"[1,1,3,4]", "[3,4]"})
    CHECK(rewritten(fusion::fuse_rope, test::fixture(whole(dims, alike), 17), 1e-5, Target::kOrt) == "RotaryEmbedding");
  CHECK(rewritten(fusion::fuse_rope, test::fixture(whole("[1,1,3,4]", alike), 23), 1e-5) ==
        "Expand Expand RotaryEmbedding");
  CHECK(declined(fusion::fuse_rope, whole("[1,3,4]", "1, 0.4, 1, 0.4, 0.6, 1, 0.6, 1, -0.4, 1, -0.4, 9"), 17,
                 Target::kOrt) == "the halves of the tables differ");
}

TEST_CASE("other rotations stay") {
  const auto reasons = [](const std::string& text, Target target = Target::kOrt, int64_t rows = 64) {
    Model model = folded(text, rows);
    model.set_opset("com.microsoft", 1);
    infer(model);
    PassContext context;
    context.target = target;
    const PassTally tally = run_pass(model, fusion::fuse_rope, context);
    CHECK(tally.applied == 0);
    return tally.declined.empty() ? std::string() : tally.declined.begin()->first;
  };
  const std::string halves = "Concat <axis = -1> (n, a)";
  CHECK(reasons(graph(halves, "m", "H, H, T, T"), Target::kOnnx) == "RotaryEmbedding needs opset 23");
  CHECK(reasons(graph(halves, "m", "H, T, T, T")) == "the halves of the tables differ");
  CHECK(reasons(graph(halves, "three", "H, H, T, T")) ==
        "cosines and sines are neither the first rows of constant tables nor those of angles");
  CHECK(reasons(graph("Concat <axis = -1> (a, n)", "m", "H, H, T, T")) == "not a rotation of halves");
  // One row is for all.
  CHECK(reasons(graph(halves, "m", "H, H, T, T"), Target::kOrt, 1) ==
        "cosines and sines are neither the first rows of constant tables nor those of angles");
}

namespace {

/// Heads [B, 2, N, 4] turned by angles made from positions, one half of them or both after the function.
std::string by_positions(const std::string& batch, const std::string& function, const std::string& turned = "n, a") {
  const std::string both = function == "first" ? "e = Concat <axis = -1> (f, f)  c0 = Cos (e)  s0 = Sin (e)  "
                                               : "e = Cos (f)  d = Sin (f)  c0 = Concat <axis = -1> (e, e)  "
                                                 "s0 = Concat <axis = 2> (d, d)  ";
  return "g (float[B,2,N,4] x, int64[" + batch +
         ",N] p) => (float[B,2,N,4] y) <float[1,2,1] freq = {1.0, 0.1}, "
         "int64[1] one = {1}, int64[1] zero = {0}, int64[1] two = {2}, int64[1] four = {4}, int64[1] last = {-1}> { "
         "u = Unsqueeze (p, one)  v = Cast <to = 1> (u)  w = MatMul (freq, v)  f = Transpose <perm = [0, 2, 1]> (w)  " +
         both +
         "c = Unsqueeze (c0, one)  s = Unsqueeze (s0, one)  a = Slice (x, zero, two, last)  b = Slice (x, two, "
         "four, last)  n = Neg (b)  h = Concat <axis = -1> (" +
         turned + ")  q = Mul (x, c)  r = Mul (h, s)  y = Add (q, r) }";
}

}  // namespace

TEST_CASE("the rotation by angles from positions is one operator") {
  const std::string angles = "Unsqueeze Cast MatMul Transpose ";
  for (const char* function : {"first", "last"}) {
    CHECK(rewritten(fusion::fuse_rope, by_positions("1", function), 17, 1e-5, Target::kOrt) ==
          angles + "Cos Sin Reshape Reshape RotaryEmbedding");
    CHECK(rewritten(fusion::fuse_rope, by_positions("B", function), 17, 1e-5, Target::kOrt) ==
          angles + "Cos Sin Shape Slice ReduceProd Range Reshape Reshape Reshape RotaryEmbedding");
    CHECK(rewritten(fusion::fuse_rope, by_positions("B", function), 23, 1e-5) == angles + "Cos Sin RotaryEmbedding");
    CHECK(rewritten(fusion::fuse_rope, by_positions("1", function), 23, 1e-5) ==
          angles + "Cos Sin Shape Gather Concat Expand Shape Gather Concat Expand RotaryEmbedding");
  }
}

namespace {

/// Heads [B, 2, N, 4] turned by a table [N, 4] or [N, 2] that is computed, [rows, size] as PyTorch's broadcasting
/// allows it; the halves joined before or after they are turned.
std::string by_table(const std::string& end) {
  return "g (float[B,2,N,4] x, float[N,2] f) => (float[B,2,N,4] y) <int64[1] zero = {0}, int64[1] two = {2}, "
         "int64[1] four = {4}, int64[1] last = {-1}> { e = Concat <axis = -1> (f, f)  C = Cos (e)  S = Sin (e)  "
         "c = Cos (f)  s = Sin (f)  a = Slice (x, zero, two, last)  b = Slice (x, two, four, last)  " +
         end + " }";
}

}  // namespace

TEST_CASE("the rotation by angles without axes for samples and heads is one operator") {
  const std::string joined = by_table(
      "n = Neg (b)  h = Concat <axis = -1> (n, a)  q = Mul (x, C)  r = Mul (h, S)  "
      "y = Add (q, r)");
  CHECK(rewritten(fusion::fuse_rope, joined, 17, 1e-5, Target::kOrt) == "Cos Sin RotaryEmbedding");
  CHECK(rewritten(fusion::fuse_rope, joined, 23, 1e-5) ==
        "Cos Sin Shape Gather Concat Expand Shape Gather Concat Expand RotaryEmbedding");
  for (const std::string turned :
       {"k = Mul (a, c)  l = Mul (b, s)  m = Mul (b, c)  n = Mul (a, s)  o = Sub (k, l)  p = Add (m, n)  ",
        "k = Mul (c, a)  l = Mul (b, s)  m = Mul (s, a)  n = Mul (b, c)  o = Sub (k, l)  p = Add (m, n)  "})
    CHECK(rewritten(fusion::fuse_rope, by_table(turned + "y = Concat <axis = 3> (o, p)"), 17, 1e-5, Target::kOrt) ==
          "Cos Sin RotaryEmbedding");
}

TEST_CASE("halves that are turned otherwise stay") {
  const auto stays = [](const std::string& turned) {
    CHECK(declined(fusion::fuse_rope, by_table(turned), 17, Target::kOrt) == "not a rotation of halves");
  };
  stays(
      "k = Mul (a, c)  l = Mul (b, s)  m = Mul (b, s)  n = Mul (a, c)  o = Sub (k, l)  p = Add (m, n)  "
      "y = Concat <axis = 3> (o, p)");
  stays(
      "k = Mul (b, c)  l = Mul (a, s)  m = Mul (a, c)  n = Mul (b, s)  o = Sub (k, l)  p = Add (m, n)  "
      "y = Concat <axis = 3> (o, p)");
  stays(
      "k = Mul (a, c)  l = Mul (b, s)  m = Mul (b, c)  n = Mul (a, s)  o = Sub (k, l)  p = Add (m, n)  "
      "z = Concat <axis = 3> (p, o)  y = Neg (z)");
}

TEST_CASE("rotations by angles stay where the standard has none, and the other way round") {
  CHECK(declined(fusion::fuse_rope, by_positions("B", "first"), 22) == "RotaryEmbedding needs opset 23");
  CHECK(declined(fusion::fuse_rope, by_positions("B", "first", "a, n"), 23) == "not a rotation of halves");
}

TEST_CASE("heads behind rows are turned as parts of rows, as Keras writes it") {
  const auto text = [](const std::string& axes, const std::string& first = "n") {
    return "g (float[B,N,2,8] x, float[1,N,1] p, float[4] F) => (float[B,N,2,8] y) <int64[1] two = {" + axes +
           "}, int64[2] halves = {4, 4}> { f = Mul (p, F)  d = Concat <axis = -1> (f, f)  u = Unsqueeze (d, two) "
           "c = Cos (u)  s = Sin (u)  a, b = Split <axis = -1> (x, halves)  n = Neg (b)  h = Concat <axis = -1> (" +
           first + ", a)  v = Mul (x, c)  w = Mul (h, s)  y = Add (v, w) }";
  };
  CHECK(rewritten(fusion::fuse_rope, test::fixture(text("2"), 17), 1e-5, Target::kOrt) ==
        "Mul Cos Sin Reshape Reshape Reshape RotaryEmbedding Reshape");
  CHECK(rewritten(fusion::fuse_rope, test::fixture(text("2"), 23), 1e-5) ==
        "Mul Cos Sin Shape Gather Concat Expand Shape Gather Concat Expand Reshape RotaryEmbedding Reshape");
  CHECK(declined(fusion::fuse_rope, text("2", "b"), 17, Target::kOrt) != "");
  CHECK(declined(fusion::fuse_rope, text("2"), 22) == "RotaryEmbedding needs opset 23");
}
