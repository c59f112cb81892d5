#include "core/rewrite/fusion/attention_site.h"
#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using fusion::fuse_attention;
using test::declined;
using test::rewritten;

namespace {

/// The pieces that a test may exchange for others.
struct Spelling {
  std::string inputs = "float[B,N,16] x";
  std::string q = "MatMul (x, Q)", scores = "p = MatMul (q, k)  s = Div (p, two)",
              turn_k = "Transpose <perm = [0, 2, 3, 1]> (k4)";
  std::string join = "Transpose <perm = [0, 2, 1, 3]> (o)";
};

std::string graph(const Spelling& s = {}) {
  return "g (" + s.inputs +
         ", float[16,16] Q, float[16,16] K, float[16,16] V, float[16] C) => (float[B,N,16] y) "
         "<int64[4] split = {0, 0, 4, 4}, int64[3] joint = {0, 0, 16}, float two = {2}, float zero = {0}, "
         "float hide = {-10000}, float least = {-3.0e38}, float none = {-inf}, float fone = {1}, int64 i0 = {0}, int64 "
         "i1 = {1}, int64[1] l0 = {0}, int64[1] l1 = {1}, int64[1] l2 = {2}, int64[2] l12 = {1, 2}, int64[2] l23 = {2, "
         "3}, int64[2] lz = {0, 0}, int64[2] lzo = {1, 0}> { q3 = " +
         s.q +
         "  k3 = MatMul (x, K)  v0 = MatMul (x, V)  v3 = Add (C, v0)  q4 = Reshape (q3, split) "
         "k4 = Reshape (k3, split)  v4 = Reshape (v3, split)  q = Transpose <perm = [0, 2, 1, 3]> (q4)  k = " +
         s.turn_k + "  v = Transpose <perm = [0, 2, 1, 3]> (v4)  " + s.scores +
         "  w = Softmax <axis = -1> (s)  o = MatMul (w, v)  t = " + s.join + "  y = Reshape (t, joint) }";
}

std::string fused(const Spelling& s = {}) { return rewritten(fuse_attention, graph(s), 17, 1e-4, Target::kOrt); }
std::string kept(const Spelling& s) { return declined(fuse_attention, graph(s), 17, Target::kOrt); }

std::string replaced_once(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

const std::string kMask = "float[B,N,16] x, bool[B,N] m";

}  // namespace

TEST_CASE("heads that nothing hides become one operator") {
  CHECK(fused() == "MatMul MatMul MatMul Add MultiHeadAttention");
  CHECK(fused({.scores = "p = MatMul (q, k)  s = Mul (two, p)"}) == "MatMul MatMul MatMul Add MultiHeadAttention");
}

TEST_CASE("keys and values of two sizes are joined again, as ONNX Runtime takes heads of one size only") {
  const auto graph = [](int keys, int values) {
    const std::string k = std::to_string(keys), v = std::to_string(values), both = std::to_string(keys + values),
                      width = std::to_string(4 * values);
    return "g (float[B,N,16] x, float[16," + std::to_string(4 * keys) + "] Q, float[16," +
           std::to_string(4 * (keys + values)) + "] W) => (float[B,N," + width + "] y) <int64[4] split = {0, 0, 4, " +
           k + "}, int64[4] wide = {0, 0, 4, " + both + "}, int64[2] parts = {" + k + ", " + v +
           "}, int64[3] joint = {0, 0, " + width +
           "}> { q3 = MatMul (x, Q)  q4 = Reshape (q3, split)  q = Transpose <perm = [0, 2, 1, 3]> (q4)  w3 = MatMul "
           "(x, W)  w4 = Reshape (w3, wide)  wt = Transpose <perm = [0, 2, 1, 3]> (w4)  k, v = Split <axis = 3> (wt, "
           "parts)  kt = Transpose <perm = [0, 1, 3, 2]> (k)  p = MatMul (q, kt)  a = Softmax <axis = -1> (p)  o = "
           "MatMul (a, v)  t = Transpose <perm = [0, 2, 1, 3]> (o)  y = Reshape (t, joint) }";
  };
  CHECK(rewritten(fuse_attention, graph(8, 8), 17, 1e-4, Target::kOrt) ==
        "MatMul MatMul Reshape Transpose Split MultiHeadAttention");
  CHECK(rewritten(fuse_attention, graph(4, 8), 17, 1e-4, Target::kOrt) ==
        "MatMul MatMul Reshape Transpose Split Transpose Reshape Transpose Reshape MultiHeadAttention");
}

TEST_CASE("keys that are hidden by padding are said as numbers") {
  CHECK(fused({.inputs = kMask,
               .scores = "p = MatMul (q, k)  d = Div (p, two)  u = Unsqueeze (m, l12)  e = Where (u, zero, hide)  s = "
                         "Add (d, e)"}) == "Cast Attention");
}

TEST_CASE("a mask that is added stays one") {
  Spelling s{.inputs = "float[B,N,16] x, float[1,4,N,N] m",
             .scores = "p = MatMul (q, k)  d = Div (p, two)  s = Add (m, d)"};
  CHECK(fused(s) == "Attention");
  s.inputs = "float[B,N,16] x, float[B,1,1,N] m";
  CHECK(fused(s) == "Shape Gather Concat Expand Attention");
  s.inputs = "float[B,N,16] x, float[N,N] m";
  CHECK(fused(s) == "Unsqueeze Attention");
  s.inputs = "float[B,N,16] x, float[N] m";
  CHECK(kept(s) == "the mask is not the whole [batch, heads, rows, keys]");
}

TEST_CASE("a mask has the keys that one of its parts has, as the values take no others") {
  const auto masked = [](const std::string& end) {
    return Spelling{.inputs = "float[B,N,16] x, bool[B,1,N,N] m",
                    .scores =
                        "p = MatMul (q, k)  d = Div (p, two)  h = Shape (x)  n = Slice (h, l1, l2)  ones = "
                        "ConstantOfShape <value = float[1] {1}> (n)  some = NonZero (ones)  " +
                        end + "  e = Where (a, zero, hide)  s = Add (d, e)"};
  };
  CHECK(fused(masked("f = GreaterOrEqual (some, i0)  a = And (m, f)")) ==
        "Shape Slice ConstantOfShape NonZero GreaterOrEqual And Where Attention");
  CHECK(fused(masked("a = GreaterOrEqual (some, i0)")) ==
        "Shape Slice ConstantOfShape NonZero GreaterOrEqual Where Shape Gather Concat Shape Gather Concat Mul Expand "
        "Attention");
}

TEST_CASE("rows without keys are zeros where exporters say so") {
  const auto text = [](const std::string& hidden, const std::string& end) {
    return replaced_once(
        graph({.inputs = kMask,
               .scores = "p = MatMul (q, k)  d = Div (p, two)  u = Unsqueeze (m, l12)  e = Where (u, zero, " + hidden +
                         ")  s = Add (d, e)"}),
        "o = MatMul (w, v)", end + "  o = MatMul (z, v)");
  };
  const std::string guard = "n = IsNaN (w)  z = Where (n, zero, w)";
  const auto run = [&](const std::string& hidden) {
    return rewritten(fuse_attention, text(hidden, guard), 17, 1e-4, Target::kOrt);
  };
  CHECK(run("least") == "Cast Attention");  // such rows are numbers
  CHECK(run("none") == "Cast Attention IsNaN Where");
  CHECK(declined(fuse_attention, text("none", "n = IsNaN (w)  z = Where (n, fone, w)"), 17, Target::kOrt).empty());
  CHECK(declined(fuse_attention, text("none", "n = IsNaN (s)  z = Where (n, zero, w)"), 17, Target::kOrt) ==
        "the scores are not a product");
}

TEST_CASE("the standard's mask has all keys, as those that it lacks would be hidden") {
  const auto masked = [](const std::string& mask) {
    return graph({.inputs = "float[B,N,16] x, float[" + mask + "] m",
                  .scores = "p = MatMul (q, k)  d = Div (p, two)  s = Add (m, d)"});
  };
  CHECK(rewritten(fuse_attention, masked("B,1,N,N"), 23, 1e-4) == "MatMul MatMul MatMul Add Attention");
  // ONNX Runtime repeats it over samples and heads only.
  CHECK(rewritten(fuse_attention, masked("B,1,1,N"), 23, 1e-4) ==
        "MatMul MatMul MatMul Add Shape Gather Concat Expand Attention");
  CHECK(rewritten(fuse_attention, masked("B,1,1,N"), 23, 1e-4, Target::kKernels) ==
        "MatMul MatMul MatMul Add Attention");
  CHECK(rewritten(fuse_attention, masked("B,1,N,1"), 23, 1e-4) ==
        "MatMul MatMul MatMul Add Shape Gather Concat Expand Attention");
  CHECK(rewritten(fuse_attention, masked("B,1,1,1"), 23, 1e-4).ends_with("Mul Expand Attention"));
  CHECK(declined(fuse_attention, masked("M,1,N,N"), 23) == "the mask may have other samples");
}

TEST_CASE("a causal mask is an attribute") {
  CHECK(
      fused({.scores = "p = MatMul (q, k)  d = Div (p, two)  h = Shape (x)  n = Gather (h, i1)  r = Range (i0, n, i1) "
                       "cols = Unsqueeze (r, l0)  rows = Unsqueeze (r, l1)  f = Greater (cols, rows) "
                       "e = Where (f, hide, zero)  s = Add (d, e)"}) == "Attention");
}

TEST_CASE("keys are hidden by a factor, by a negated condition, and by numbers in the place of scores") {
  CHECK(fused({.inputs = kMask,
               .scores = "p = MatMul (q, k)  d = Div (p, two)  u = Unsqueeze (m, l12)  f = Cast <to = 1> (u) "
                         "r = Sub (fone, f)  e = Mul (r, hide)  s = Add (d, e)"}) == "Cast Attention");
  CHECK(fused({.inputs = kMask,
               .scores = "p = MatMul (q, k)  d = Div (p, two)  u = Unsqueeze (m, l12)  e = Where (u, hide, zero)  s = "
                         "Add (d, e)"}) == "Not Cast Attention");
  const std::string chosen = "p = MatMul (q, k)  d = Div (p, two)  u = Unsqueeze (m, l12)  ";
  CHECK(fused({.inputs = kMask, .scores = chosen + "s = Where (u, d, least)"}) == "Cast Attention");
  CHECK(kept({.inputs = kMask, .scores = chosen + "s = Where (u, d, hide)"}) ==
        "a row without keys would be another one, as its scores are hidden by a small number");
  CHECK(kept({.inputs = "float[B,N,16] x, float[M,1,1,N] m", .scores = "p = MatMul (q, k)  s = Add (p, m)"}) ==
        "the mask is not the whole [batch, heads, rows, keys]");
}

TEST_CASE("a triangle hides the keys after each query, however it is made") {
  const std::string n =
      "p = MatMul (q, k)  d = Div (p, two)  h = Shape (x)  n = Slice (h, l1, l2)  nn = Concat <axis = "
      "0> (n, n)  ";
  const std::string ones = n + "o1 = ConstantOfShape <value = float[1] {1}> (nn)  ";
  CHECK(fused({.scores = ones + "c = Trilu <upper = 1> (o1, i1)  b = Cast <to = 9> (c)  s = Where (b, hide, d)"}) ==
        "Attention");
  CHECK(fused({.scores = ones + "c = Trilu <upper = 0> (o1)  b = Equal (c, zero)  s = Where (b, hide, d)"}) ==
        "Attention");
  CHECK(fused({.scores = ones + "c = Trilu <upper = 0> (o1)  r = Sub (fone, c)  e = Mul (r, hide)  s = Add (d, e)"}) ==
        "Attention");
  CHECK(kept({.scores = ones + "c = Trilu <upper = 0> (o1, i1)  b = Equal (c, zero)  s = Where (b, hide, d)"}) ==
        "a row without keys would be another one, as its scores are hidden by a small number");
  CHECK(fused({.scores = ones + "c = Trilu <upper = 1> (o1)  e = Mul (c, hide)  s = Add (d, e)"})
            .ends_with("Trilu Mul Unsqueeze Attention"));
}

TEST_CASE("a causal mask is found where Keras counts rows and columns of one matrix") {
  const auto scores = [](const std::string& after, const std::string& column = "Mod (mat, n)") {
    return "p = MatMul (q, k)  d = Div (p, two)  h = Shape (x)  n = Slice (h, l1, l2) "
           "ll = Concat <axis = 0> (n, n)  all = ReduceProd <keepdims = 1> (ll) "
           "ones = ConstantOfShape <value = int64[1] {1}> (all)  c = CumSum <exclusive = 1> (ones, i0) "
           "mat = Reshape (c, ll)  row = Div (mat, n)  col = " +
           column + "  " + after + "  s = Where (b, hide, d)";
  };
  CHECK(fused({.scores = scores("b = Greater (col, row)")}) == "Attention");
  CHECK(fused({.scores = scores("b = Less (row, col)")}) == "Attention");
  CHECK(fused({.scores = scores("e = Sub (col, row)  b = Greater (e, i0)")}) == "Attention");
  CHECK(kept({.scores = scores("b = Greater (row, col)")}) ==
        "a row without keys would be another one, as its scores are hidden by a small number");
  CHECK(kept({.scores = scores("b = Greater (col, row)", "Add (mat, n)")}) ==
        "a row without keys would be another one, as its scores are hidden by a small number");
}

TEST_CASE("the corner of a constant triangle is causal") {
  const auto text = [](const std::string& first) {
    return graph(
        {.scores = "p = MatMul (q, k)  d = Div (p, two)  h = Shape (x)  n = Slice (h, l1, l2)  g = Concat <axis "
                   "= 0> (n, n)  c = Slice (tri, lz" +
                   first + ", g, l23)  s = Where (c, d, hide)"});
  };
  const auto with_triangle = [&](const std::string& first, float last) {
    std::string whole = text(first), tri;
    for (int i = 0; i < 8; ++i)
      for (int k = 0; k < 8; ++k)
        tri += (i + k ? ", " : "") + std::string(k > i || (k == 0 && i == 7 && last == 0) ? "0" : "1");
    return whole.insert(whole.find("<int64[4]") + 1, "bool[1,1,8,8] tri = {" + tri + "}, ");
  };
  CHECK(rewritten(fuse_attention, with_triangle("", 1), 17, 1e-4, Target::kOrt) == "Attention");
  const std::string small = "a row without keys would be another one, as its scores are hidden by a small number";
  CHECK(declined(fuse_attention, with_triangle("", 0), 17, Target::kOrt) == small);
  CHECK(declined(fuse_attention, with_triangle("o", 1), 17, Target::kOrt) == fusion::kMayRepeat);
}

TEST_CASE("heads are found behind one product and in any order of samples and rows") {
  const std::string packed = R"(g (float[N,B,16] x, float[16,48] W) => (float[N,B,16] y)
    <int64[4] heads = {0, 0, 4, 4}, int64[3] joint = {0, 0, 16}, float half = {0.5}> {
    m = MatMul (x, W)  a, b, c = Split <axis = 2, num_outputs = 3> (m)
    a4 = Reshape (a, heads)  b4 = Reshape (b, heads)  c4 = Reshape (c, heads)
    q = Transpose <perm = [1, 2, 0, 3]> (a4)  k = Transpose <perm = [1, 2, 3, 0]> (b4)
    v = Transpose <perm = [1, 2, 0, 3]> (c4)  p = MatMul (q, k)  s = Mul (p, half)  w = Softmax <axis = -1> (s)
    o = MatMul (w, v)  t = Transpose <perm = [2, 0, 1, 3]> (o)  y = Reshape (t, joint) })";
  CHECK(rewritten(fuse_attention, packed, 18, 1e-4, Target::kOrt) ==
        "MatMul Split Transpose Transpose Transpose MultiHeadAttention Transpose");
}

TEST_CASE("thirds of one product that something hides are made by the operator") {
  const auto text = [](const std::string& order, const std::string& more) {
    return "g (float[B,N,16] x, float[1,4,N,N] m, float[16,48] W, float[48] C) => (float[B,N,16] y) <int64[4] heads = "
           "{0, "
           "0, 4, 4}, int64[3] joint = {0, 0, 16}, float half = {0.5}> { z = MatMul (x, W)  z1 = " +
           more + "  a, b, c = Split <axis = 2, num_outputs = 3> (z1)  a4 = Reshape (" + order +
           ", heads)  b4 = Reshape (b, heads)  c4 = Reshape (c, heads)  q = Transpose <perm = [0, 2, 1, 3]> (a4) "
           "k = Transpose <perm = [0, 2, 3, 1]> (b4)  v = Transpose <perm = [0, 2, 1, 3]> (c4)  p = MatMul (q, k) "
           "d = Mul (p, half)  s = Add (d, m)  w = Softmax <axis = -1> (s)  o = MatMul (w, v) "
           "t = Transpose <perm = [0, 2, 1, 3]> (o)  y = Reshape (t, joint) }";
  };
  const auto written = [&](const std::string& order, const std::string& more) {
    return rewritten(fuse_attention, text(order, more), 18, 1e-4, Target::kOrt);
  };
  CHECK(written("a", "Add (z, C)") == "Attention");
  CHECK(written("a", "Identity (z)") == "MatMul Identity Split MultiHeadAttention");
  CHECK(written("b", "Add (z, C)") == "MatMul Add Split MultiHeadAttention");
}

TEST_CASE("the standard has Attention since opset 23") {
  CHECK(rewritten(fuse_attention, graph(), 23, 1e-4) == "MatMul MatMul MatMul Add Attention");
  CHECK(rewritten(fuse_attention,
                  graph({.inputs = "float[B,N,16] x, float[1,1,1,N] m",
                         .scores = "p = MatMul (q, k)  d = Div (p, two)  s = Add (m, d)"}),
                  23, 1e-4) == "MatMul MatMul MatMul Add Shape Gather Concat Expand Attention");
}

TEST_CASE("queries that something was done to are joined again") {
  CHECK(fused({.scores = "i = Tanh (q)  z = MatMul (i, k)  s = Div (z, two)"}) ==
        "MatMul MatMul MatMul Add Reshape Transpose Tanh Transpose Reshape MultiHeadAttention");
}

TEST_CASE("rows that are joined with samples are so behind the operator") {
  const std::string rows = replaced_once(graph({.join = "Transpose <perm = [2, 0, 1, 3]> (o)"}),
                                         "int64[3] joint = {0, 0, 16}", "int64[2] joint = {-1, 16}");
  const std::string read = replaced_once(replaced_once(rows, "float[B,N,16] y", "float[P,16] y"),
                                         "y = Reshape (t, joint)", "z = Reshape (t, joint)  y = Relu (z)");
  CHECK(rewritten(fuse_attention, read, 17, 1e-4, Target::kOrt) ==
        "MatMul MatMul MatMul Add MultiHeadAttention Transpose Reshape Relu");
}

TEST_CASE("what is no attention over heads stays") {
  CHECK(declined(fuse_attention, graph(), 22) == "Attention needs opset 23");
  CHECK(kept({.join = "Transpose <perm = [0, 3, 1, 2]> (o)"}) == "the heads are not joined");
  CHECK(kept({.turn_k = "Transpose <perm = [0, 2, 1, 3]> (k4)  k0 = Identity (x)"}) ==
        "queries, keys or values are not split into heads");
  CHECK(kept({.scores = "p = MatMul (q, k)  s = Neg (p)"}) == "the scores are not a product");
  CHECK(kept({.scores = "p = MatMul (q, k)  s = Div (p, none)"}) == "the operator would take its own scale");
}

TEST_CASE("groups of queries with their keys and values take a causal mask") {
  const auto text = [](const std::string& mask) {
    return R"(g (float[B,N,32] x, float[32,32] Q, float[32,16] K, float[32,16] V) => (float[B,N,32] y)
    <int64[4] four = {0, 0, 4, 8}, int64[4] two = {0, 0, 2, 8}, int64[4] all = {0, 4, -1, 8}, int64[1] l2 = {2},
     int64[5] wide = {1, 1, 2, 1, 1}, int64[3] joint = {0, 0, 32}, float root = {3}, float zero = {0},
     float hide = {-10000}, int64 i0 = {0}, int64 i1 = {1}, int64[1] l0 = {0}, int64[1] l1 = {1}> {
    q3 = MatMul (x, Q)  k3 = MatMul (x, K)  v3 = MatMul (x, V)
    q4 = Reshape (q3, four)  k4 = Reshape (k3, two)  v4 = Reshape (v3, two)
    q = Transpose <perm = [0, 2, 1, 3]> (q4)  kt = Transpose <perm = [0, 2, 1, 3]> (k4)
    vt = Transpose <perm = [0, 2, 1, 3]> (v4)
    ku = Unsqueeze (kt, l2)  ke = Expand (ku, wide)  kr = Reshape (ke, all)
    vu = Unsqueeze (vt, l2)  ve = Expand (vu, wide)  vr = Reshape (ve, all)
    k = Transpose <perm = [0, 1, 3, 2]> (kr)  p = MatMul (q, k)  d = Div (p, root)
    sh = Shape (x)  n = Gather (sh, i1)  r = Range (i0, n, i1)  cols = Unsqueeze (r, l0)  rows = Unsqueeze (r, l1)
    f = LessOrEqual (cols, rows)  e = Where (f, zero, hide)  s = )" +
           mask + R"(  w = Softmax <axis = -1> (s)  o = MatMul (w, vr)
    t = Transpose <perm = [0, 2, 1, 3]> (o)  y = Reshape (t, joint) })";
  };
  CHECK(rewritten(fuse_attention, text("Add (d, e)"), 17, 1e-4, Target::kOrt) ==
        "Shape Gather Cast Sub Gather Expand MatMul GroupQueryAttention");
  CHECK(declined(fuse_attention, text("Identity (d)"), 17, Target::kOrt) == "the scores are not a product");
  CHECK(declined(fuse_attention, text("Add (d, hide)"), 17, Target::kOrt) ==
        "the mask is not the whole [batch, heads, rows, keys]");
}
