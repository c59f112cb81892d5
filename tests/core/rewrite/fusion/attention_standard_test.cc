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
         " low = {" + low +
         "}> { q3 = MatMul (x, Q)  k3 = MatMul (x, K)  v3 = MatMul (x, V)  q4 = Reshape (q3, heads)  "
         "k4 = Reshape (k3, heads)  v4 = Reshape (v3, heads)  q = Transpose <perm = [0, 2, 1, 3]> (q4)  "
         "k = Transpose <perm = [0, 2, 3, 1]> (k4)  v = Transpose <perm = [0, 2, 1, 3]> (v4)  p = MatMul (q, k)  " +
         scores +
         "  w = Softmax <axis = -1> (s)  o = MatMul (w, v)  t = Transpose <perm = [0, 2, 1, 3]> (o)  "
         "y = Reshape (t, rows) }";
}

/// The number by which the mask of the standard's Attention hides keys, where the source hides them by `low`.
double hidden(const std::string& low, const std::string& scores) {
  Model model = test::fixture(graph("float", low, scores), 23);
  infer(model);
  run_pass(model, fusion::attention, test::pass_context());
  for (const Node* node : model.graph->nodes())
    if (node->is("Where")) return fusion::only_number(node->input(2)).value_or(0);
  return 0;
}

const std::string kAdded = "z = Where (m, zero, low)  s = Add (p, z)", kChosen = "s = Where (m, p, low)",
                  kBeside = "n = Neg (zero)  z = Where (m, n, low)  s = Add (p, z)";

}  // namespace

TEST_CASE("the least float, which ONNX Runtime takes for minus infinity, becomes another that hides alike") {
  for (const std::string& scores : {kAdded, kChosen, kBeside}) {
    CHECK(hidden("-3.4028234663852886e38", scores) == Approx(-1e30));
    CHECK(hidden("-1.0e20", scores) == Approx(-1e20));
    CHECK(hidden("-inf", scores) == -INFINITY);
  }
}

TEST_CASE("float16 is one operator where no row depends on a finite number that hides") {
  const auto text = [](const std::string& low, const std::string& scores) { return graph("float16", low, scores); };
  // As bits: minus infinity and the least number.
  const std::string infinite = "64512", least = "64511";
  using test::declined;
  using test::rewritten;
  CHECK(rewritten(fusion::attention, text(infinite, kChosen), 17, 3e-2, Target::kOrt).ends_with("Attention"));
  CHECK(rewritten(fusion::attention, text(infinite, kAdded), 23, 3e-2).ends_with("Attention"));
  CHECK(declined(fusion::attention, text(least, kAdded), 17, Target::kOrt) ==
        "float16 rounds what its mask leaves of a row without keys");
  CHECK(declined(fusion::attention, text(infinite, kAdded), 17, Target::kKernels) ==
        "it is not float32, nor float16 for a runtime");
}
