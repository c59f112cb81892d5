#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fold_constants;
using graphopt::fold_quantization;
using test::declined;
using test::rewritten;

TEST_CASE("what depends on constants only is computed, through chains, in bodies and with captured constants") {
  CHECK(rewritten(fold_constants, R"(g (double[2] x, double[2] A) => (double[2] y)
    { b = Exp (A)  c = Neg (b)  y = Add (x, c) })") == "Add");
  CHECK(rewritten(fold_constants, R"(g (double[2] x, bool c, double[2] A) => (double[2] y) {
    y = If (c) <then_branch = t () => (double[2] p) { b = Exp (A)  p = Mul (x, b) },
                else_branch = e () => (double[2] q) { q = Neg (x) }>
  })") == "If[Mul][Neg]");
  CHECK(rewritten(fold_constants, R"(g (double[2] x, double[4] A) => (double[2] y)
    { b, c = Split <num_outputs = 2> (A)  d = Mul (x, b)  y = Add (d, c) })") == "Mul Add");
}

TEST_CASE("of integers alone, floats stay as they are") {
  CHECK(rewritten(graphopt::fold_integers, R"(g (float[2] x) => (float[2] y) <float[2] a = {1, 2}, int64 s = {16}> {
    t = Constant <value = int64 {16}> ()  c = Equal (s, t)  n = Cast <to = 1> (c)
    b = Exp (a)  d = Mul (b, n)  y = Mul (x, d) })") == "Cast Exp Mul Mul");
}

TEST_CASE("a default that the caller may override is not folded") {
  CHECK(
      declined(fold_constants, "g (double[2] x, double[2] a = {1, 2}) => (double[2] y) { b = Exp (a)  y = Add (x, b) }")
          .empty());
}

TEST_CASE("randomness and quantization are not folded") {
  CHECK(declined(fold_constants, R"(g (float[2] x) => (float[2] y) <int8[2] q = {1, 2}, float s = {0.5}>
    { w = DequantizeLinear (q, s)  y = Add (x, w) })")
            .empty());
  CHECK(declined(fold_constants, R"(g (float[2] x) => (float[2] y) <float[2] a = {1, 2}>
    { r = RandomUniformLike (a)  y = Add (x, r) })")
            .empty());
}

TEST_CASE("of constants that are quantized the codes are stored, and their DequantizeLinear stays") {
  const std::string constants =
      "<float[2,2] w = {1, 2, 3, 4}, float s = {0.5}, float t = {0.5}, int8 z = {3}, "
      "float[2] S = {0.5, 1}, uint8[2] Z = {1, 2}, int16 wide = {0}> ";
  const std::string graph = "g (float[2,2] x, float v) => (float[2,2] y) " + constants;
  const auto pair = [&](const std::string& to, const std::string& from) {
    return graph + "{ q = QuantizeLinear " + to + "  d = DequantizeLinear " + from + "  y = Add (x, d) }";
  };
  CHECK(rewritten(fold_quantization, pair("(w, s, z)", "(q, t, z)")) == "DequantizeLinear Add");
  CHECK(rewritten(fold_quantization, pair("<axis = 0> (w, S, Z)", "<axis = 0> (q, S, Z)")) == "DequantizeLinear Add");
  CHECK(rewritten(fold_quantization, pair("<axis = 0, output_dtype = 21> (w, S)", "<axis = 0> (q, S)")) ==
        "DequantizeLinear Add");  // uint4
  CHECK(rewritten(fold_quantization, graph + R"({ q = QuantizeLinear (w, s)  d = DequantizeLinear (q, s)
    e = DequantizeLinear (q, s)  f = Add (x, d)  y = Mul (f, e) })") == "DequantizeLinear DequantizeLinear Add Mul");
  for (const auto& [to, from] : {std::pair{"(w, v, z)", "(q, v, z)"},                // a scale that is no constant
                                 {"(x, s, z)", "(q, s, z)"},                         // nor what is quantized
                                 {"(w, s, wide)", "(q, s, wide)"},                   // 16 bits
                                 {"(w, s, z)", "(q, s)"},                            // other steps
                                 {"<axis = 0> (w, S, Z)", "<axis = 1> (q, S, Z)"}})  // along another axis
    CHECK(declined(fold_quantization, pair(to, from)).empty());
  CHECK(declined(fold_quantization, graph + R"({ q = QuantizeLinear (w, s, z)  d = DequantizeLinear (q, s, z)
    c = Cast <to = 1> (q)  e = Add (x, c)  y = Add (e, d) })")
            .empty());  // something else reads the codes
  CHECK(declined(fold_quantization, R"(g (float[2] x, float s = {0.5}) => (float[2] y) <float[2] w = {1, 2}>
    { q = QuantizeLinear (w, s)  d = DequantizeLinear (q, s)  y = Add (x, d) })")
            .empty());  // the caller may give it
  for (const Pass* pass : {&fold_constants, &graphopt::fold_integers})
    CHECK(declined(*pass, pair("(w, s, z)", "(q, s, z)")).empty());
}

TEST_CASE("an output keeps its node, and what has no kernel stays") {
  CHECK(declined(fold_constants, "g (double[2] x, double[2] A) => (double[2] y) { y = Exp (A) }") ==
        "it is an output of the graph");
  const std::string reason =
      declined(fold_constants, "g (double[2] x, double[2] A) => (double[2] y) { b = local.what (A)  y = Add (x, b) }");
  CHECK(reason.find("it cannot be computed here") == 0);
}

TEST_CASE("folding stops at its limit, and gives back what it frees") {
  // 1000 doubles from one shape, and 1000 doubles from 1000 others that go.
  Model model = test::fixture(R"(g (double[1000] x, double[1000] A) => (double[1000] y) <int64[1] s = {1000}> {
    grown = ConstantOfShape (s)
    g = Cast <to = 11> (grown)
    same = Exp (A)
    b = Add (x, same)
    y = Add (b, g)
  })");
  infer(model);
  PassContext context = test::pass_context();
  context.fold_bytes = 1000;
  const PassTally tally = run_pass(model, fold_constants, context);
  CHECK(tally.applied == 1);
  CHECK(tally.declined.at("its result is larger than the folding limit") == 2);
  CHECK(test::operators(*model.graph) == "ConstantOfShape Cast Add Add");
  context.fold_bytes = 100'000;
  CHECK(run_pass(model, fold_constants, context).applied == 2);
  CHECK(test::operators(*model.graph) == "Add Add");
}

TEST_CASE("a chain whose middle is too large is computed where its end is small") {
  const auto run_with = [](const std::string& end, int64_t more) {
    Model model = test::fixture(
        "g (double[4] x) => (double[4] y) <int64[1] s = {1000}, int64[2] at = {3, 7}> { "
        "a = ConstantOfShape (s)  b = Cast <to = 11> (a)  c = Exp (b) " +
        end);
    infer(model);
    PassContext context = test::pass_context();
    context.fold_bytes = more;
    const PassTally tally = run_pass(model, fold_constants, context);
    return std::pair(test::operators(*model.graph), tally.declined);
  };
  const auto [small, nothing] = run_with("d = Gather (c, at)  e = ReduceSum <keepdims = 0> (d)  y = Add (x, e) }", 100);
  CHECK(small == "Add");
  CHECK(nothing.empty());
  // Whatever is too large at the end stays as it was, and is said to be.
  const auto [large, reasons] = run_with("d = Expand (x, s)  y = Mul (c, d) }", 100);
  CHECK(large == "ConstantOfShape Cast Exp Expand Mul");
  CHECK(reasons.at("its result is larger than the folding limit") == 3);
  // The middle is needed by others too: what is small is taken from it, and it stays.
  const auto [both, one] = run_with(
      "d = Gather (c, at)  e = ReduceSum <keepdims = 0> (d)  m = ReduceMax (x) "
      "f = Mul (c, m)  n = ReduceSum (f)  h = Add (n, e)  y = Add (x, h) }",
      100);
  CHECK(both == "ConstantOfShape Cast Exp ReduceMax Mul ReduceSum Add Add");
  CHECK(one.size() == 1);
}

TEST_CASE("what was only needed on the way gives back what it was made of") {
  // A weight that is divided by its own deviation, as of weight standardization: the file does not grow.
  Model model = test::fixture(R"(g (double[1000] x, double[1000] A) => (double[1000] y) {
    mean = ReduceMean (A)  d = Sub (A, mean)  square = Mul (d, d)  v = ReduceMean (square)  w = Div (A, v)
    y = Add (x, w) })");
  infer(model);
  PassContext context = test::pass_context();
  context.fold_bytes = 100;
  CHECK(run_pass(model, fold_constants, context).declined.empty());
  CHECK(test::operators(*model.graph) == "Add");
}

TEST_CASE("a size beyond all memory is declined before it is computed") {
  CHECK(declined(fold_constants, R"(g (double[1] x) => (double[N] y) <int64[1] s = {1152921504606846976}>
    { a = ConstantOfShape (s)  b = Cast <to = 11> (a)  y = Add (x, b) })") ==
        "it cannot be computed here: tensor too large");
}

TEST_CASE("large results of small inputs and long computations are declined before they are computed") {
  const auto reasons = [](const char* graph) {
    Model model = test::fixture(graph);
    infer(model);
    return run_pass(model, fold_constants, test::pass_context()).declined;
  };
  CHECK(reasons(R"(g (double[1] x, double[65536,1] A, double[1,65536] B) => (double[N,M] y)
    { c = Add (A, B)  y = Add (x, c) })")
            .contains("its result is larger than the folding limit"));
  CHECK(reasons(R"(g (double[1] x, double[4096,1024] A, double[1024,4096] B) => (double[N,M] y)
    { c = MatMul (A, B)  y = Add (x, c) })")
            .contains("it takes too long to compute here"));
}
