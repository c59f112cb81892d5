#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string lowered(const std::string& graph) {
  return test::rewritten(lower::attention, test::fixture(graph, 17), 1e-5, Target::kKernels);
}

/// Scores of q and the turned keys t, which `keys` makes of k, and values v.
std::string attention(const std::string& k, const std::string& keys) {
  return "g (float[2,3,4,8] q, " + k + " k, float[2,3,5,6] v) => (float[2,3,4,6] y) <float c = {0.3}> {" + keys +
         " s = MatMul (q, t) s2 = Mul (s, c) p = Softmax <axis = -1> (s2) y = MatMul (p, v) }";
}

}  // namespace

TEST_CASE("two products and the softmax between them become attention, which takes keys as they lay") {
  CHECK(lowered(attention("float[2,3,5,8]", "t = Transpose <perm = [0, 1, 3, 2]> (k)")) == "Attention");
  CHECK(lowered(attention("float[2,3,8,5]", "t = Identity (k)")) == "Identity Transpose Attention");
}

TEST_CASE("scores that tanh keeps below a cap are capped by attention") {
  const auto text = [](const std::string& scores) {
    return "g (float[2,3,4,8] q, float[2,3,5,8] k, float[2,3,5,6] v, float[4,5] m) => (float[2,3,4,6] y) <float cap = "
           "{0.7}, float less = {-0.7}, float half = {0.5}> { t = Transpose <perm = [0, 1, 3, 2]> (k)  p = MatMul (q, "
           "t)  " +
           scores + "  w = Softmax <axis = -1> (s)  y = MatMul (w, v) }";
  };
  const std::string capped = "a = Mul (p, half)  b = Div (a, cap)  c = Tanh (b)  ";
  CHECK(lowered(text(capped + "d = Mul (c, cap)  s = Add (d, m)")) == "Attention");
  CHECK(lowered(text(capped + "s = Mul (cap, c)")) == "Attention");
  CHECK(lowered(text("c = Tanh (p)  s = Add (c, m)")) == "Attention");
  CHECK(test::declined(lower::attention, text("c = Tanh (p)  s = Mul (c, less)"), 17, Target::kKernels) ==
        "the scores are not a product");
  CHECK(test::declined(lower::attention, text("c = Tanh (p)  e = Add (c, m)  s = Mul (e, cap)"), 17,
                       Target::kKernels) == "the scores are not a product");
}

TEST_CASE("a product that reads the keys as they lay, and scales, is the first of the two as well") {
  Model source = test::fixture(
      "g (float[2,3,4,8] q, float[2,3,5,8] k, float[2,3,5,6] v) => (float[2,3,4,6] y) { s = "
      "com.microsoft.FusedMatMul <alpha = 0.3, transB = 1> (q, k) p = Softmax <axis = -1> (s) y = MatMul (p, v) }",
      17);
  source.set_opset("com.microsoft", 1);
  CHECK(test::rewritten(lower::attention, source, 1e-5, Target::kKernels) == "Attention");
}

TEST_CASE("keys that were turned before they were split into heads are split as they lay") {
  const std::string turned =
      "r = Transpose <perm = [0, 2, 1]> (k) d = Constant <value_ints = [2, 3, 8, 5]> () t = Reshape (r, d)";
  CHECK(lowered(attention("float[2,5,24]", turned)) == "Reshape Transpose Attention");
}

namespace {

/// Probabilities of the scores with `mask` added, zeros where they are no numbers.
std::string guarded(const std::string& inputs, const std::string& constants, const std::string& mask) {
  return "g (float[2,3,4,8] q, float[2,3,8,5] t, float[2,3,5,6] v" + inputs +
         ") => (float[2,3,4,6] y) <float zero = {0}" + constants + "> { s = MatMul (q, t) " + mask +
         " p = Softmax <axis = -1> (m) n = IsNaN (p) w = Where (n, zero, p) y = MatMul (w, v) }";
}

}  // namespace

TEST_CASE("zeros for rows whose keys are all hidden are what attention gives by itself") {
  const std::string sum = "m = Add (s, c)", choice = "c = Where (seen, zero, low) " + sum;
  CHECK(lowered(guarded("", ", float one = {1}", "m = Mul (s, one)")) == "Transpose Attention");
  CHECK(lowered(guarded(", bool[4,5] seen", ", float low = {-inf}", choice)) == "Where Transpose Attention");
  CHECK(lowered(guarded(", float[4,5] c", "", sum)) == "Transpose Attention");
  const std::string hidden = "-inf, -inf, -inf, -inf, -inf";
  CHECK(lowered(guarded("", ", float[4,5] c = {0, 0, 0, 0, -inf, " + hidden + ", 0, 0, 0, -inf, -inf, " + hidden + "}",
                        sum)) == "Transpose Attention");
}

TEST_CASE("probabilities that something else reads stay, and those that a guard changes otherwise") {
  const auto applied = [](const std::string& outputs, const std::string& number) {
    Model source = test::fixture("g (float[2,3,4,8] q, float[2,3,8,5] t, float[2,3,5,6] v) => (float[2,3,4,6] y" +
                                     outputs + ") <float c = {" + number +
                                     "}> { s = MatMul (q, t) p = Softmax <axis = -1> (s) n = IsNaN (p) "
                                     "w = Where (n, c, p) y = MatMul (w, v) }",
                                 17);
    PassContext context = test::pass_context();
    infer(source, context.standard_types);
    return run_pass(source, lower::attention, context).applied;
  };
  CHECK(applied("", "0") == 1);
  CHECK(applied("", "0.5") == 0);
  CHECK(applied(", float[2,3,4,5] p", "0") == 0);
  CHECK(applied(", bool[2,3,4,5] n", "0") == 0);
}

TEST_CASE("products around the softmax over another axis stay") {
  Model source = test::fixture(
      "g (float[2,3,4,8] q, float[2,3,8,4] k, float[2,3,4,6] v) => (float[2,3,4,6] y) "
      "{ s = MatMul (q, k) p = Softmax <axis = 2> (s) y = MatMul (p, v) }",
      17);
  PassContext context = test::pass_context();
  infer(source, context.standard_types);
  CHECK(run_pass(source, lower::attention, context).applied == 0);
}

TEST_CASE("heads that a kernel has no room for stay as they are") {
  for (const auto& [size, applied] : {std::pair{"256", 1}, std::pair{"257", 0}}) {
    Model source = test::fixture(std::string("g (float[2,3,4,") + size + "] q, float[2,3," + size +
                                     ",5] t, float[2,3,5,6] v) => (float[2,3,4,6] y) "
                                     "{ s = MatMul (q, t) p = Softmax <axis = -1> (s) y = MatMul (p, v) }",
                                 17);
    PassContext context = test::pass_context();
    infer(source, context.standard_types);
    CHECK(run_pass(source, lower::attention_to_256, context).applied == applied);
  }
}
