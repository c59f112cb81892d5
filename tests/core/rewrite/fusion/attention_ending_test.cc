#include "core/rewrite/fusion/attention_ending.h"

#include "core/ir/infer.h"
#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// The pieces that a test may exchange for others.
struct Spelling {
  std::string inputs = "float[B,5,16] x";
  std::string scores = "s = Mul (p, half)";
  std::string end = "o4 = Reshape (o, parted)  t = Transpose <perm = [0, 2, 1, 3]> (o4)  y = Reshape (t, rows)";
  std::string y = "B,5,16";
};

/// Attention of four heads, of which those of all samples are one axis.
std::string graph(const Spelling& s = {}) {
  const auto heads = [](const std::string& name) {
    return name + "3 = MatMul (x, " + std::string(1, static_cast<char>(std::toupper(name[0]))) + ")  " + name +
           "4 = Reshape (" + name + "3, heads)  " + name + "t = Transpose <perm = [0, 2, 1, 3]> (" + name + "4)  " +
           name + " = Reshape (" + name + "t, joined)  ";
  };
  return "g (" + s.inputs + ", float[16,16] Q, float[16,16] K, float[16,16] V) => (float[" + s.y +
         "] y) <int64[4] heads = {0, 0, 4, 4}, "
         "int64[3] joined = {-1, 5, 4}, int64[4] parted = {-1, 4, 5, 4}, int64[3] rows = {0, 0, 16}, float half = "
         "{0.5}> { " +
         heads("q") + heads("k") + heads("v") + "z = Transpose <perm = [0, 2, 1]> (k)  p = MatMul (q, z)  " + s.scores +
         "  w = Softmax <axis = -1> (s)  o = MatMul (w, v)  " + s.end + " }";
}

std::string fused(const Spelling& s = {}) {
  return rewritten(fusion::fuse_attention, graph(s), 17, 1e-4, Target::kOrt);
}
std::string kept(const Spelling& s) { return declined(fusion::fuse_attention, graph(s), 17, Target::kOrt); }

const std::string kMask = "d = Mul (p, half)  s = Add (d, m)";

}  // namespace

TEST_CASE("attention is found where samples and heads are one axis") {
  CHECK(fused() == "MatMul MatMul MatMul MultiHeadAttention");
  CHECK(rewritten(fusion::fuse_attention, graph(), 23, 1e-4) == "MatMul MatMul MatMul Attention");
  CHECK(fused({.inputs = "float[1,5,16] x", .y = "1,5,16"}) == "MatMul MatMul MatMul MultiHeadAttention");
}

TEST_CASE("a mask that all samples and heads share stays one") {
  CHECK(fused({.inputs = "float[B,5,16] x, float[5,5] m", .scores = kMask}) == "Unsqueeze Attention");
  CHECK(fused({.inputs = "float[B,5,16] x, float[1,5,5] m", .scores = kMask}) == "Unsqueeze Attention");
}

TEST_CASE("a mask for one number of samples, which the model does not have, cannot be looked into") {
  CHECK(kept({.inputs = "float[B,5,16] x, float[20,5,5] m", .scores = kMask}) ==
        "queries, keys or values are not split into heads; the scores have other axes than samples, heads, queries and "
        "keys");
}

TEST_CASE("an axis that nothing takes apart is no axis of heads") {
  CHECK_FALSE(kept({.end = "t = Transpose <perm = [1, 0, 2]> (o)  n = Neg (t)  u = Transpose <perm = [1, 0, 2]> (n)  "
                           "b = Reshape (u, parted)  a = Transpose <perm = [0, 2, 1, 3]> (b)  y = Reshape (a, rows)"})
                  .empty());
  CHECK(kept({.end = "r = Relu (o)  o4 = Reshape (r, parted)  t = Transpose <perm = [0, 2, 1, 3]> (o4)  y = Reshape "
                     "(t, rows)"}) == "one head is faster as two products");
  CHECK(kept({.scores = "s = Mul (p, half)  n = Neg (w)",
              .end = "o4 = Reshape (o, parted)  t = Transpose <perm = [0, 2, 1, 3]> (o4)  y = Reshape (t, rows)"})
            .empty());
}

TEST_CASE("softmax along another axis than the keys is no attention") {
  std::string text = graph();
  text.replace(text.find("<axis = -1>"), 11, "<axis = 1>");
  CHECK(declined(fusion::fuse_attention, text, 17, Target::kOrt) == "another axis than the keys");
}

namespace {

/// Attention of the one head that there is, of so many numbers, whose queries, keys and values are rows.
std::string one_head(const std::string& rows, const std::string& size, const std::string& scores = "s = Mul (p, half)",
                     const std::string& inputs = "", const std::string& end = "y = Neg (o)") {
  const std::string shape = "B," + rows + "," + size;
  return "g (float[" + shape + "] q, float[" + shape + "] k, float[" + shape + "] v" + inputs + ") => (float[" + shape +
         "] y) <float half = {0.5}> { t = Transpose " + "<perm = [0, 2, 1]> (k)  p = MatMul (q, t)  " + scores +
         "  w = Softmax <axis = -1> (s)  o = MatMul (w, v)  " + end + " }";
}

}  // namespace

TEST_CASE("attention of one head without an axis of heads") {
  CHECK(rewritten(fusion::fuse_attention, one_head("S", "32"), 17, 1e-4, Target::kKernels) == "Attention Neg");
  CHECK(rewritten(fusion::fuse_attention, one_head("1024", "32"), 17, 1e-4, Target::kOrt) == "MultiHeadAttention Neg");
  CHECK(rewritten(fusion::fuse_attention, one_head("5", "32", "d = Mul (p, half)  s = Add (d, m)", ", float[B,5,5] m"),
                  17, 1e-4, Target::kKernels) == "Reshape Attention Neg");
}

TEST_CASE("one head stays two products where they are faster") {
  const std::string reason = "one head is faster as two products";
  CHECK(declined(fusion::fuse_attention, one_head("S", "128"), 17, Target::kKernels) == reason);
  CHECK(declined(fusion::fuse_attention, one_head("S", "32"), 17, Target::kOrt) == reason);
  CHECK(declined(fusion::fuse_attention, one_head("1024", "256"), 17, Target::kOrt) == reason);
  CHECK(declined(fusion::fuse_attention, one_head("1024", "32"), 23) == reason);
}

TEST_CASE("what takes the first axis apart has several heads there") {
  const std::string graph =
      "g (float[8,1024,32] q, float[8,1024,32] k, float[8,1024,32] v) => (float[2,1024,4,32] y) <int64[4] parted = {2, "
      "4, 1024, 32}> { t = Transpose <perm = [0, 2, 1]> (k)  p = MatMul (q, t)  w = Softmax <axis = -1> (p)  o = "
      "MatMul "
      "(w, v)  a = Reshape (o, parted)  y = Transpose <perm = [0, 2, 1, 3]> (a) }";
  CHECK(rewritten(fusion::fuse_attention, graph, 17, 1e-4, Target::kOrt).find("MultiHeadAttention") !=
        std::string::npos);
  Model model = test::fixture(graph);
  infer(model, test::pass_context().standard_types);
  const Node* product = model.graph->find("o")->producer;
  CHECK_FALSE(fusion::ending_of_one_head(product, Builder(model, *model.graph, product)));
}
