#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

const std::string kNumbers =
    "int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] last = {-1}, int64 i0 = {0}, int64 i1 = "
    "{1}, int64[1] big = {9223372036854775807}, int64[5] parts = {0, 0, 0, 2, 2}, int64[4] whole = {0, 0, 0, 4}, "
    "int64[5] ones = {1, 1, 1, 1, 2}";

/// Heads [B, 2, N, 4], or [B, N, 2, 4], of which neighbours turn by c and s, as x c + (-b, a) s.
struct Spelling {
  std::string x = "float[B,2,N,4] x", tables = "float[B,N,2] c0, float[B,N,2] s0", before = "", axis = "one";
  std::string even = "Slice (x, zero, big, last, two)", odd = "Slice (x, one, big, last, two)";
  std::string join = "Concat <axis = -1> (nu, au)";
};

/// c and s [..., 4], each number twice.
std::string doubled(const std::string& how = "Expand (U, ones)") {
  std::string text;
  for (const char* t : {"c", "s"}) {
    std::string repeated = how;
    const std::string u = std::string(t) + "u";
    for (size_t at = repeated.find('U'); at != std::string::npos; at = repeated.find('U')) repeated.replace(at, 1, u);
    text += std::string(t) + "h = Unsqueeze (" + t + "0, axis)  " + u + " = Unsqueeze (" + t + "h, last)  " + t +
            "e = " + repeated + "  " + t + " = Reshape (" + t + "e, whole)  ";
  }
  return text;
}

std::string graph(const Spelling& s) {
  const std::string y = s.x.substr(0, s.x.find(' '));
  return "g (" + s.x + ", " + s.tables + ") => (" + y + " y) <" + kNumbers + ", int64[1] axis = {" +
         (s.axis == "one" ? "1" : "2") + "}> { " + (s.before.empty() ? doubled() : s.before) + " a = " + s.even +
         "  b = " + s.odd + "  n = Neg (b)  nu = Unsqueeze (n, last)  au = Unsqueeze (a, last)  st = " + s.join +
         "  h = Reshape (st, whole)  p = Mul (x, c)  q = Mul (h, s)  y = Add (p, q) }";
}

/// The same spelt as pairs of a sum and a difference, from `taken` pairs.
std::string in_pairs(const std::string& take = "a = Gather <axis = -1> (r, i0)  b = Gather <axis = -1> (r, i1)",
                     const std::string& sum = "Mul (a, s)  z = Mul (b, c)", const std::string& shape = "B,N,2",
                     const std::string& tables = "B,N") {
  return "g (float[" + shape + ",4] x, float[" + tables + ",2] c0, float[" + tables + ",2] s0) => (float[" + shape +
         ",4] y) <" + kNumbers + ", int64[1] axis = {2}> { c = Unsqueeze (c0, axis)  s = Unsqueeze (s0, axis) " +
         "r = Reshape (x, parts)  " + take + "  k = Mul (a, c)  l = Mul (b, s)  w = " + sum +
         "  m = Sub (k, l)  n = Add (w, z)  mu = Unsqueeze (m, last)  nu = Unsqueeze (n, last) "
         "st = Concat <axis = -1> (mu, nu)  y = Reshape (st, whole) }";
}

std::string fused(const std::string& text, Target target = Target::kOrt, int64_t opset = 18) {
  return rewritten(fusion::fuse_rope_interleaved, text, opset, 1e-5, target);
}

std::string kept(const std::string& text, Target target = Target::kOrt, int64_t opset = 18) {
  return declined(fusion::fuse_rope_interleaved, text, opset, target);
}

const std::string kTables = "Unsqueeze Unsqueeze ", kHalves = kTables + kTables;

}  // namespace

TEST_CASE("neighbours that turn by cosines and sines of their own are one operator") {
  CHECK(fused(graph({}), Target::kOnnx, 23) == kHalves + "Reshape Reshape RotaryEmbedding");
  for (const char* how : {"Expand (U, ones)", "Tile (U, ones)", "Concat <axis = -1> (U, U)"})
    CHECK(fused(graph({.before = doubled(how)})) ==
          kHalves + "Reshape Reshape Shape Slice ReduceProd Range Reshape Reshape Reshape RotaryEmbedding");
  CHECK(fused(graph({.x = "float[B,N,2,4] x", .axis = "two"}), Target::kOnnx, 23) ==
        kHalves + "Reshape Reshape Reshape RotaryEmbedding Reshape");
}

TEST_CASE("angles may be repeated before their cosines and sines are taken") {
  const std::string angles =
      "h0 = Unsqueeze (c0, axis)  u = Unsqueeze (h0, last)  e = Expand (u, ones)  t = Reshape (e, whole) ";
  CHECK(fused(graph({.before = angles + "c = Cos (t)  s = Sin (t) "}), Target::kOnnx, 23) ==
        "Unsqueeze Unsqueeze Cos Reshape Sin Reshape RotaryEmbedding");
  CHECK(kept(graph({.before = angles + "c = Cos (t)  s = Exp (t) "}), Target::kOnnx, 23) ==
        "not a rotation of neighbours; the cosines or sines of a pair may differ");
}

TEST_CASE("pairs that are turned as complex numbers are one operator") {
  CHECK(fused(in_pairs(), Target::kOnnx, 23) ==
        "Unsqueeze Unsqueeze Reshape Reshape Reshape Reshape RotaryEmbedding Reshape");
  const std::string split =
      "a1, b1 = Split <axis = -1, num_outputs = 2> (r)  a = Squeeze (a1, last)  b = Squeeze (b1, last)";
  for (const std::string& text :
       {in_pairs(split), in_pairs("a = Slice (x, zero, big, last, two)  b = Slice (x, one, big, last, two)"),
        in_pairs("a = Gather <axis = 4> (r, i0)  b = Gather <axis = 4> (r, i1)", "Mul (c, b)  z = Mul (s, a)")})
    CHECK(fused(text).find("RotaryEmbedding") != std::string::npos);
}

TEST_CASE("cosines of all samples are read by all, or repeated for each") {
  const std::string text = in_pairs("a = Gather <axis = -1> (r, i0)  b = Gather <axis = -1> (r, i1)",
                                    "Mul (a, s)  z = Mul (b, c)", "B,N,2", "1,N");
  CHECK(fused(text) == "Unsqueeze Unsqueeze Reshape Reshape Reshape Reshape Reshape Reshape RotaryEmbedding Reshape");
  CHECK(fused(text, Target::kOnnx, 23) ==
        "Unsqueeze Unsqueeze Reshape Reshape Reshape Shape Gather Concat Expand Shape Gather Concat Expand Reshape "
        "RotaryEmbedding Reshape");
}

TEST_CASE("the first rows of constant tables are as many as the rows of heads") {
  const auto text = [](const std::string& rows) {
    return "g (float[B,N,2,4] x, float[" + rows + ",2] C, float[" + rows + ",2] S) => (float[B,N,2,4] y) <" + kNumbers +
           ", int64[2] around = {0, 2}> { shape = Shape (x)  rows = Slice (shape, one, two)  c0 = Slice (C, zero, "
           "rows) "
           "s0 = Slice (S, zero, rows)  c = Unsqueeze (c0, around)  s = Unsqueeze (s0, around)  r = Reshape (x, parts) "
           "a = Gather <axis = -1> (r, i0)  b = Gather <axis = -1> (r, i1)  k = Mul (a, c)  l = Mul (b, s)  w = Mul "
           "(a, s) "
           "z = Mul (b, c)  m = Sub (k, l)  n = Add (w, z)  mu = Unsqueeze (m, last)  nu = Unsqueeze (n, last) "
           "st = Concat <axis = -1> (mu, nu)  y = Reshape (st, whole) }";
  };
  CHECK(fused(text("9")).find("RotaryEmbedding") != std::string::npos);
  CHECK(fused(text("9"), Target::kOnnx, 23).find("RotaryEmbedding") != std::string::npos);
  // One row is for all.
  CHECK(kept(text("1")) == "cosines and sines are not those of rows");
}

TEST_CASE("constant cosines and sines of all rows are those of the operator") {
  const auto turned = [](const std::string& cosines) {
    return "g (float[1,2,2,4] x) => (float[1,2,2,4] y) <" + kNumbers + ", float[1,1,2,4] c = {" + cosines +
           "}, float[1,1,2,4] s = {0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.4, 0.4}, int64[4] shape = {1, 2, 2, 4}> { "
           "a = Slice (x, zero, big, last, two)  b = Slice (x, one, big, last, two)  n = Neg (b)  nu = Unsqueeze (n, "
           "last)  au = Unsqueeze (a, last)  st = Concat <axis = -1> (nu, au)  t = Reshape (st, shape)  p = Mul (x, c) "
           "q = Mul (t, s)  y = Add (p, q) }";
  };
  CHECK(fused(turned("0.9, 0.9, 0.8, 0.8, 0.7, 0.7, 0.6, 0.6")).ends_with("RotaryEmbedding"));
  CHECK(fused(turned("0.9, 0.9, 0.8, 0.8, 0.7, 0.7, 0.6, 0.6"), Target::kOnnx, 23).ends_with("RotaryEmbedding"));
  CHECK(kept(turned("0.9, 0.9, 0.8, 0.8, 0.7, 0.7, 0.6, 0.5")).ends_with("the cosines or sines of a pair may differ"));
}

TEST_CASE("other rotations and tables stay") {
  const std::string far = "cosines and sines are not those of rows", take = "a = Gather <axis = -1> (r, i0)  b = ";
  CHECK(kept(in_pairs(), Target::kOnnx, 22) == "RotaryEmbedding needs opset 23");
  CHECK(kept(in_pairs(), Target::kTensorrt, 23) == "the target does not run RotaryEmbedding");
  CHECK(kept(in_pairs(take + "Gather <axis = -1> (r, i0)")) == "not a rotation of neighbours");
  CHECK(kept(in_pairs(take + "Gather <axis = -1> (r, i1)", "Mul (a, c)  z = Mul (b, s)")) ==
        "not a rotation of neighbours");
  CHECK(kept(in_pairs(take + "Gather <axis = -1> (r, i1)", "Mul (a, s)  z = Mul (b, c)", "B,N,2", "B,1")) == far);
  CHECK(kept(graph({.join = "Concat <axis = -1> (au, nu)"})) == "not a rotation of neighbours");
  CHECK(kept(graph({.even = "Slice (x, one, big, last, two)", .odd = "Slice (x, zero, big, last, two)"})) ==
        "not a rotation of neighbours");
  CHECK(kept(graph({.tables = "float[B,N,4] c0, float[B,N,4] s0",
                    .before = "c = Unsqueeze (c0, axis)  s = Unsqueeze (s0, axis)"})) ==
        "not a rotation of neighbours; the cosines or sines of a pair may differ");
}

namespace {

/// Rows of constant tables by the numbers of positions.
Model by_ids(const std::string& ids, bool same) {
  const std::string before =
      "cr = Gather (C, ids)  sr = Gather (S, ids)  c = Unsqueeze (cr, axis)  s = Unsqueeze (sr, axis)";
  Model model =
      test::fixture(graph({.tables = "int64[" + ids + ",N] ids, float[9,4] C, float[9,4] S", .before = before}), 23);
  for (const char* name : {"C", "S"}) {
    Tensor table = *model.graph->find(name)->constant;
    for (int64_t i = 1; i < table.size(); i += 2)
      if (same) table.mutable_data<float>()[i] = table.data<float>()[i - 1];
    model.graph->find(name)->constant = table;
  }
  return model;
}

}  // namespace

TEST_CASE("constant tables keep one number for each pair") {
  CHECK(rewritten(fusion::fuse_rope_interleaved, by_ids("B", true), 1e-5) == "Gather Gather RotaryEmbedding");
  CHECK(rewritten(fusion::fuse_rope_interleaved, by_ids("B", true), 1e-5, Target::kOrt) ==
        "Gather Gather Shape Slice ReduceProd Range Reshape Reshape Reshape RotaryEmbedding");
  CHECK(rewritten(fusion::fuse_rope_interleaved, by_ids("1", true), 1e-5) ==
        "Gather Gather Shape Gather Concat Expand Shape Gather Concat Expand RotaryEmbedding");
  Model model = by_ids("B", false);
  infer(model);
  const PassTally tally = run_pass(model, fusion::fuse_rope_interleaved, test::pass_context());
  CHECK(tally.applied == 0);
  CHECK(tally.declined.contains("the cosines or sines of a pair may differ"));
}
