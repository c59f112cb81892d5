#include <algorithm>

#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// Attention in numbers of this type, whose scores p `scores` makes s of; `low` is a number to hide by.
std::string graph(const std::string& type, const std::string& low, const std::string& scores) {
  const std::string weight = ", " + type + "[16,16] ";
  return "g (" + type + "[B,5,16] x, bool[B,1,1,5] m" + weight + "Q" + weight + "K" + weight + "V) => (" + type +
         "[B,5,16] y) <int64[4] heads = {0, 0, 4, 4}, int64[3] rows = {0, 0, 16}, " + type + " zero = {0}, " + type +
         " low = {" + low + "}, " + type + " one = {1}, int64[1] one1 = {1}, " + type + "[1,1,1,1] nil = {0}, " + type +
         "[5] few = {0, 0, 0, 0, " + low +
         "}> { q3 = MatMul (x, Q)  k3 = MatMul (x, K)  v3 = MatMul (x, V)  q4 = Reshape (q3, heads)  "
         "k4 = Reshape (k3, heads)  v4 = Reshape (v3, heads)  q = Transpose <perm = [0, 2, 1, 3]> (q4)  "
         "k = Transpose <perm = [0, 2, 3, 1]> (k4)  v = Transpose <perm = [0, 2, 1, 3]> (v4)  p = MatMul (q, k)  " +
         scores +
         "  w = Softmax <axis = -1> (s)  o = MatMul (w, v)  t = Transpose <perm = [0, 2, 1, 3]> (o)  "
         "y = Reshape (t, rows) }";
}

const std::string kLeast = "-3.4028234663852886e38", kAdded = "z = Where (m, zero, low)  s = Add (p, z)",
                  kChosen = "s = Where (m, p, low)", kBeside = "n = Neg (zero)  z = Where (m, n, low)  s = Add (p, z)";

/// The number by which the mask of the standard's Attention hides keys, where the source hides them by `low`.
double hidden(const std::string& low, const std::string& scores) {
  Model model = test::fixture(graph("float", low, scores), 23);
  infer(model);
  run_pass(model, fusion::fuse_attention, test::pass_context());
  for (const Node* node : model.graph->nodes())
    if (node->is("Where")) return fusion::only_number(node->input(2)).value_or(0);
  return 0;
}

/// The lowest number that an operator of the standard's attention reads, where the source hides keys by the least.
double lowest(const std::string& scores) {
  Model model = test::fixture(graph("float", kLeast, scores), 23);
  infer(model);
  CHECK(run_pass(model, fusion::fuse_attention, test::pass_context()).applied > 0);
  double low = 0;
  for (const Node* node : model.graph->nodes())
    for (const Value* input : node->inputs()) low = std::min(low, fusion::only_number(input).value_or(0));
  return low;
}

}  // namespace

TEST_CASE("the least float, which ONNX Runtime takes for minus infinity, becomes another that hides alike") {
  for (const std::string& scores : {kAdded, kChosen, kBeside}) {
    CHECK(hidden(kLeast, scores) == Approx(-1e30));
    CHECK(hidden("-1.0e20", scores) == Approx(-1e20));
    CHECK(hidden("-inf", scores) == -INFINITY);
  }
}

TEST_CASE("the least float becomes another also as the factor of what is hidden, and in sums of masks") {
  const std::string product = "c = Cast <to = 1> (m)  r = Sub (one, c)  a = Mul (r, low)  ";
  CHECK(lowest(product + "s = Add (p, a)") == Approx(-1e30));
  CHECK(lowest(product + "z = Add (a, nil)  s = Add (p, z)") == Approx(-1e30));
  CHECK(lowest(product + "b = Where (m, zero, low)  z = Add (b, a)  s = Add (p, z)") == Approx(-1e30));
  CHECK(test::rewritten(fusion::fuse_attention, graph("float", kLeast, product + "z = Add (a, few)  s = Add (p, z)"),
                        23, 1e-4)
            .find("Max Add") != std::string::npos);
  // What is multiplied may be as small as the number is low.
  CHECK(lowest("c = Cast <to = 1> (m)  r = Sqrt (c)  z = Mul (r, low)  s = Add (p, z)") < -1e38);
}

TEST_CASE("the least float becomes another in constants, in extrema and wherever a mask is moved or limited") {
  const auto rewritten = [](const std::string& scores) {
    return test::rewritten(fusion::fuse_attention, graph("float", kLeast, scores), 23, 1e-4);
  };
  CHECK(rewritten("s = Add (p, few)").find("Max") != std::string::npos);
  CHECK(rewritten("a = Where (m, zero, low)  z = Max (a, low)  s = Add (p, z)").find("Max Max") != std::string::npos);
  CHECK(lowest("a = Where (m, zero, low)  b = Squeeze (a, one1)  z = Unsqueeze (b, one1)  s = Add (p, z)") ==
        Approx(-1e30));
  CHECK(lowest("a = Where (m, zero, low)  b = Where (m, zero, low)  z = Min (a, b)  s = Add (p, z)") == Approx(-1e30));
}

TEST_CASE("one number for all keys hides no later ones") {
  CHECK(test::rewritten(fusion::fuse_attention, graph("float", "-1", "s = Add (p, nil)"), 23, 1e-4)
            .ends_with(" Expand Attention"));
}

TEST_CASE("scores of five axes stay") {
  const std::string text =
      "g (float[B,N,4] x, float[B,N,4] z, float[1,1,1,N,N] m) => (float[B,N,4] y) <int64[1] l1 = {1}> { "
      "q = Unsqueeze (x, l1)  v = Unsqueeze (z, l1)  k = Transpose <perm = [0, 1, 3, 2]> (v)  p = MatMul (q, k)  "
      "s = Add (p, m)  w = Softmax <axis = -1> (s)  o = MatMul (w, v)  n = Shape (x)  y = Reshape (o, n) }";
  CHECK(test::declined(fusion::fuse_attention, text, 23)
            .find("the scores have other axes than samples, heads, queries and keys") != std::string::npos);
}

TEST_CASE("float16 is one operator where no row depends on a finite number that hides") {
  const auto text = [](const std::string& low, const std::string& scores) { return graph("float16", low, scores); };
  // As bits: minus infinity and the least number.
  const std::string infinite = "64512", least = "64511";
  using test::declined;
  using test::rewritten;
  CHECK(rewritten(fusion::fuse_attention, text(infinite, kChosen), 17, 3e-2, Target::kOrt).ends_with("Attention"));
  CHECK(rewritten(fusion::fuse_attention, text(infinite, kAdded), 23, 3e-2).ends_with("Attention"));
  CHECK(declined(fusion::fuse_attention, text(least, kAdded), 17, Target::kOrt) ==
        "float16 rounds what its mask leaves of a row without keys");
  CHECK(declined(fusion::fuse_attention, text(infinite, kAdded), 17, Target::kKernels) ==
        "it is not float32, nor float16 for a runtime");
}
