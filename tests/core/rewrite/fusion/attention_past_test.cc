#include "core/rewrite/fusion/attention_past.h"

#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// The pieces that a test may exchange for others.
struct Cached {
  std::string past = "float[B,4,P,4] pk, float[B,4,P,4] pv";
  std::string keys = "Concat <axis = 2> (pk, k1)", values = "Concat <axis = -2> (pv, v1)";
  std::string turned = "k", taken = "v";  ///< what is turned for the scores, what the probabilities multiply
  std::string between, scores = "s = Mul (p, half)", after = "ky = Identity (k)  vy = Identity (v)";
  std::string outputs = ", float[B,4,K,4] ky, float[B,4,K,4] vy", heads = "4", width = "16";
};

/// Attention of rows x over those of a cache and themselves.
std::string graph(const Cached& c) {
  return "g (float[B,N,16] x, " + c.past + ", float[B,1,N,P] m1, float[B,1,N,N] m2, float[16,16] Q, float[16," +
         c.width + "] K, float[16," + c.width + "] V) => (float[B,N,16] y" + c.outputs +
         ") <int64[4] split = {0, 0, 4, 4}, int64[4] shared = {0, 0, " + c.heads +
         ", 4}, int64[3] joint = {0, 0, 16}, int64[5] twice = {1, 1, 2, 1, 1}, int64[4] four = {0, 4, -1, 4}, "
         "int64[1] two = {2}, int64[1] three = {3}, float half = {0.5}> { q0 = MatMul (x, Q)  k0 = MatMul (x, K)  v0 = "
         "MatMul (x, V) "
         "q1 = Reshape (q0, split)  q = Transpose <perm = [0, 2, 1, 3]> (q1) "
         "k2 = Reshape (k0, shared)  k1 = Transpose <perm = [0, 2, 1, 3]> (k2) "
         "v2 = Reshape (v0, shared)  v1 = Transpose <perm = [0, 2, 1, 3]> (v2)  k = " +
         c.keys + "  v = " + c.values + "  " + c.between + "  kt = Transpose <perm = [0, 1, 3, 2]> (" + c.turned +
         ")  p = MatMul (q, kt)  " + c.scores + "  w = Softmax <axis = -1> (s)  o = MatMul (w, " + c.taken +
         ")  t = Transpose <perm = [0, 2, 1, 3]> (o)  y = Reshape (t, joint)  " + c.after + " }";
}

std::string fused(const Cached& c, Target target = Target::kOrt, int64_t opset = 17) {
  return rewritten(fusion::fuse_attention, graph(c), opset, 1e-4, target);
}

/// Two heads of the cache for four of queries.
Cached grouped() {
  Cached c;
  c.past = "float[B,2,P,4] pk, float[B,2,P,4] pv";
  c.outputs = ", float[B,2,K,4] ky, float[B,2,K,4] vy";
  c.heads = "2", c.width = "8", c.turned = "kr", c.taken = "vr";
  c.between =
      "k5 = Unsqueeze (k, two)  ke = Expand (k5, twice)  kr = Reshape (ke, four)  v5 = Unsqueeze (v, two) "
      "ve = Expand (v5, twice)  vr = Reshape (ve, four)";
  return c;
}

const std::string kMasked = "m = Concat <axis = 3> (m1, m2)  d = Mul (p, half)  s = Add (d, m)";

}  // namespace

TEST_CASE("keys and values behind those of the past are the operator's") {
  CHECK(fused({}) == "MatMul MatMul MatMul MultiHeadAttention Identity Identity");
  CHECK(fused({}, Target::kOnnx, 23) == "MatMul MatMul MatMul Attention Identity Identity");
  Cached c;
  c.after = "", c.outputs = "";
  CHECK(fused(c) == "MatMul MatMul MatMul MultiHeadAttention");
  c.outputs = ", float[B,4,K,4] k, float[B,4,K,4] v";
  CHECK(fused(c) == "MatMul MatMul MatMul MultiHeadAttention");
}

TEST_CASE("a mask of old and new keys is added") {
  Cached c;
  c.scores = kMasked;
  CHECK(fused(c) == "MatMul MatMul MatMul Concat MultiHeadAttention Identity Identity");
  CHECK(fused(c, Target::kOnnx, 23) == "MatMul MatMul MatMul Concat Attention Identity Identity");
}

TEST_CASE("a mask that may hold one number for all keys is repeated for ONNX Runtime") {
  Cached c;
  c.scores = "m = ReduceMean <keepdims = 1> (m1, three)  d = Mul (p, half)  s = Add (d, m)";
  CHECK(fused(c, Target::kOrt, 18).find("Expand MultiHeadAttention") != std::string::npos);
  CHECK(fused(c, Target::kOnnx, 23) ==
        "MatMul MatMul MatMul ReduceMean Shape Gather Concat Gather Shape Gather Add "
        "Concat Expand Attention Identity Identity");
}

TEST_CASE("heads that share keys and values of the past are the standard's") {
  CHECK(fused(grouped(), Target::kOnnx, 23) == "MatMul MatMul MatMul Attention Identity Identity");
  Cached c = grouped();
  c.scores = kMasked;
  CHECK(fused(c, Target::kOnnx, 23) == "MatMul MatMul MatMul Concat Attention Identity Identity");
  CHECK(fused(grouped(), Target::kOrt, 23) == "MatMul MatMul MatMul Attention Identity Identity");
}

TEST_CASE("heads that share keys and values of the past are repeated where the operator hides later keys") {
  CHECK(fused(grouped()).ends_with(" Reshape Expand Reshape MultiHeadAttention Identity Identity"));
}

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// With heads of eight numbers, as ONNX Runtime wants them.
std::string wide(const Cached& c) {
  std::string text = graph(c);
  const std::pair<const char*, const char*> kWider[] = {{",P,4]", ",P,8]"},
                                                        {",K,4]", ",K,8]"},
                                                        {"float[16,8] ", "float[16,16] "},
                                                        {"float[16,16] Q", "float[16,32] Q"},
                                                        {"{0, 0, 4, 4}", "{0, 0, 4, 8}"},
                                                        {"{0, 0, 2, 4}", "{0, 0, 2, 8}"},
                                                        {"{0, 0, 16}", "{0, 0, 32}"},
                                                        {"{0, 4, -1, 4}", "{0, 4, -1, 8}"},
                                                        {"float[B,N,16] y", "float[B,N,32] y"}};
  for (const auto& [from, to] : kWider) text = replaced(text, from, to);
  return text;
}

/// Later keys hidden by a triangle below the rows of the past.
Cached ordered() {
  Cached c = grouped();
  c.scores =
      "xs = Shape (x)  ks = Shape (k)  n = Gather (xs, one)  t2 = Gather (ks, two)  nn = Unsqueeze (n, zero)  "
      "sh = Concat <axis = 0> (nn, t2)  low = ConstantOfShape <value = float[1] {-1e9}> (sh)  kk = Squeeze (t2, zero)  "
      "past = Sub (kk, n)  d1 = Add (past, one)  m = Trilu (low, d1)  d = Mul (p, half)  s = Add (d, m)";
  return c;
}

std::string one(const std::string& text, const std::string& dim) {
  std::string fixed = text;
  if (dim == "B") fixed = replaced(text, "[B,", "[1,");
  if (dim == "N") fixed = replaced(text, ",N,", ",1,");
  return replaced(replaced(fixed, "int64[1] two = {2}", "int64[1] two = {2}, int64 one = {1}, int64[1] zero = {0}"),
                  ",N]", dim == "N" ? ",1]" : ",N]");
}

}  // namespace

TEST_CASE("ONNX Runtime takes shared keys and values of the past for one sample or one row") {
  const auto operators = [](const std::string& text) {
    return rewritten(fusion::fuse_attention, text, 17, 1e-4, Target::kOrt);
  };
  CHECK(operators(one(wide(grouped()), "N")).ends_with(" MatMul GroupQueryAttention Identity Identity"));
  CHECK(operators(one(wide(ordered()), "B")).ends_with(" GroupQueryAttention Identity Identity"));
  // Rows that another mask leaves no key still see later ones, where what hides these is a finite number.
  Cached c = ordered();
  c.scores = replaced(c.scores, "s = Add (d, m)", "mm = Concat <axis = 3> (m1, m2)  ms = Add (m, mm)  s = Add (d, ms)");
  CHECK(operators(one(wide(c), "B")).ends_with(" MultiHeadAttention Identity Identity"));
  CHECK(operators(one(wide(ordered()), "")).ends_with(" MultiHeadAttention Identity Identity"));
}

namespace {

/// Of keys and values that are made of other rows than queries are.
std::string of_others(const std::string& text) {
  return replaced(replaced(replaced(text, "] x, ", "] x, float[B,M,16] z, "), "MatMul (x, K)", "MatMul (z, K)"),
                  "MatMul (x, V)", "MatMul (z, V)");
}

}  // namespace

TEST_CASE("keys made now that are not as many as queries join those of the past") {
  Cached c;
  c.scores = "m = ReduceMean <keepdims = 1> (m1, three)  d = Mul (p, half)  s = Add (d, m)";
  CHECK(rewritten(fusion::fuse_attention, of_others(graph(c)), 23, 1e-4)
            .ends_with(" Expand Attention Identity Identity"));
  // GroupQueryAttention makes as many as there are queries.
  CHECK(rewritten(fusion::fuse_attention, of_others(one(wide(grouped()), "N")), 17, 1e-4, Target::kOrt)
            .ends_with(" MultiHeadAttention Identity Identity"));
}

TEST_CASE("a triangle that does not lie behind the past hides other keys") {
  Cached c = ordered();
  c.scores = replaced(c.scores, "m = Trilu (low, d1)", "m = Trilu (low, past)");
  CHECK(rewritten(fusion::fuse_attention, one(wide(c), "B"), 17, 1e-4, Target::kOrt)
            .ends_with(" MultiHeadAttention Identity Identity"));
}

TEST_CASE("the shape of all keys, which a mask is made of, comes from the shapes of their parts") {
  Cached c;
  c.scores = R"(ks = Shape (k)  n = Gather (ks, three1)  b = Gather (ks, two)  f = ConstantOfShape (b)
    e = Cast <to = 1> (n)  h = Add (f, e)  d = Mul (p, half)  s = Add (d, h))";
  const auto with = [&](const std::string& from, const std::string& to) {
    return replaced(replaced(graph(c), "int64[1] two = {2}", "int64[1] two = {2}, int64[1] three1 = {3}"), from, to);
  };
  const auto operators = [](const std::string& text) {
    return rewritten(fusion::fuse_attention, text, 17, 1e-4, Target::kOrt);
  };
  CHECK(operators(with("three1", "last")).find("Shape Gather Shape Gather Shape Gather Add") != std::string::npos);
  const std::string part = with("ks = Shape (k)  n = Gather (ks, three1)  b = Gather (ks, two)",
                                "ks = Shape <start = 2> (k)  b, n = Split <num_outputs = 2> (ks)");
  CHECK(rewritten(fusion::fuse_attention, part, 18, 1e-4, Target::kOrt).find("Shape Shape Mul Add Split") !=
        std::string::npos);
}

TEST_CASE("a mask whose sizes have names of their own is made as large as the scores where the result says so") {
  const auto found = [](const std::string& end) {
    Cached c;
    c.past = "float[B,4,P,4] pk, float[B,4,R,4] pv, float[E,1,M,T] m";
    c.scores = "d = Mul (p, half)  s = Add (d, m)";
    c.after = "", c.outputs = "";
    std::string text = graph(c);
    const std::string old = "y = Reshape (t, joint)";
    text.replace(text.find(old), old.size(), end);
    Model model = test::fixture(text, 23);
    infer(model);
    PassContext context = test::pass_context();
    run_pass(model, fusion::fuse_attention, context);
    return test::operators(*model.graph);
  };
  // As many elements as the rows of x have: the mask repeats none of them.
  CHECK(found("h = Shape (x)  y = Reshape (t, h)").find("Expand Attention") != std::string::npos);
  CHECK(found("z = Reshape (t, joint)  y = Relu (z)").find("Attention") == std::string::npos);
  CHECK(found("y = Identity (t)").find("Attention") == std::string::npos);
}
