#include "graphopt/pipelines.h"

#include <set>

#include "core/base/error.h"
#include "core/ir/dump.h"
#include "core/onnx/io.h"
#include "core/onnx/tools.h"
#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::fixture;
using test::operators;
using test::pass_context;

namespace {

/// The operators after fuse, which must keep interface and outputs, and leave nothing for a second time.
std::string fused(const Model& source, double tolerance = 1e-12) {
  Model result = clone(source);
  graphopt::fuse(result, pass_context());
  test::require_same_model(source, result, tolerance);
  const std::string once = dump(*result.graph);
  graphopt::fuse(result, pass_context());
  CHECK(dump(*result.graph) == once);
  return operators(*result.graph);
}

}  // namespace

TEST_CASE("passes work together to a fixed point") {
  CHECK(fused(fixture(
            R"(g (double[N,2,6,6] x, double[4,2,3,3] W, double[4] S, double[4] T, double[4] M, double[4] V, double[4] F)
      => (double[N,4,6,6] y) {
    pads = Constant <value_ints = [0, 0, 1, 1, 0, 0, 1, 1]> ()
    axes = Constant <value_ints = [1, 2]> ()
    p = Pad (x, pads)
    c = Conv (p, W)
    b = BatchNormalization (c, S, T, M, V)
    f = Unsqueeze (F, axes)
    s = Mul (b, f)
    d = Dropout (s)
    y = Relu (d)
  })")) == "Conv Relu");
}

TEST_CASE("shapes with free dimensions collapse although batch and sequence stay free") {
  CHECK(fused(fixture(R"(g (double[N,S,12] x) => (double[N,3,S,4] y)
    <int64 zero = {0}, int64 one = {1}, int64[1] first = {0}, int64[1] h = {3}, int64[1] d = {4}> {
      s = Shape (x)
      n = Gather (s, zero)
      s2 = Shape (x)
      m = Gather (s2, one)
      nn = Unsqueeze (n, first)
      mm = Unsqueeze (m, first)
      shape = Concat <axis = 0> (nn, mm, h, d)
      heads = Reshape (x, shape)
      a = Transpose <perm = [0, 2, 1, 3]> (heads)
      b = Transpose <perm = [0, 2, 1, 3]> (a)
      y = Transpose <perm = [0, 2, 1, 3]> (b)
  })")) == "Reshape Transpose");
}

TEST_CASE("a wrong declared type cannot make a rewrite wrong, and is written back as it was") {
  // Nothing says that the given shape has two axes of these sizes but the declarations.
  const Model source =
      fixture(R"(g (double[N,4] x, int64[K] s) => (double[N,4] y) { a = Reshape (x, s)  y = Neg (a) })");
  Model result = clone(source);
  result.graph->find("a")->type = Type::tensor(DType::kF64, SymDims{Dim::symbol("N"), Dim(4)});
  result.graph->find("a")->declared = true;
  graphopt::fuse(result, pass_context());
  CHECK(operators(*result.graph) == "Reshape Neg");
  CHECK(to_string(result.graph->find("a")->type) == "float64[N,4]");
  CHECK(to_string(result.graph->outputs()[0]->type) == "float64[N,4]");
}

TEST_CASE("a loop's carried value may change its shape whatever its body declares") {
  const Model source = fixture(R"(g (int64 trips, bool go, double[2] x) => (double[M] y) {
    y = Loop (trips, go, x) <body = b (int64 i, bool c, double[2] v) => (bool k, double[W] w) {
      k = Identity (c)
      shape = Shape (v)
      f = Cast <to = 11> (shape)
      scaled = Mul (v, f)
      w = Concat <axis = 0> (scaled, v)
    }>
  })");
  CHECK(fused(source).find("Shape") != std::string::npos);
}

TEST_CASE("outputs that are inputs, initializers or one value twice keep their names") {
  CHECK(fused(fixture("g (double[N] x) => (double[N] x) { a = Neg (x) }")).empty());
  CHECK(fused(fixture("g (double[N] x, double[2] C) => (double[N] y, double[2] C) { y = Neg (x) }")) == "Neg");
  CHECK(fused(fixture(
            R"(g (double[N] x) => (double[N] y, double[N] z) { a = Exp (x)  y = Identity (a)  z = Identity (a) })")) ==
        "Exp Identity");
}

TEST_CASE("globs choose passes, and one that chooses nothing is an error with a suggestion") {
  const char* const graph = "g (double[N] x) => (double[N] y) { a = Identity (x)  b = Dropout (a)  y = Neg (b) }";
  const auto with = [&](const graphopt::PassSelection& selection) {
    Model model = fixture(graph);
    graphopt::fuse(model, pass_context(), selection);
    return operators(*model.graph);
  };
  CHECK(with({}) == "Neg");
  CHECK(with({{"eliminate_id*"}, {}}) == "Dropout Neg");
  CHECK(with({{}, {"eliminate_dropout"}}) == "Dropout Neg");
  CHECK(with({{}, {"eliminate_*"}}) == "Identity Dropout Neg");
  CHECK(test::contains(test::error_of([&] {
                         with({{"eliminate_identiti"}, {}});
                       }),
                       "did you mean 'eliminate_identity'"));
}

TEST_CASE("what is prepared to be written has operators of its opset and the types that it declared") {
  const Model source = fixture(R"(g (float[N,4] x) => (float[M,4] y) {
    root = Constant <value_float = 1.4142135> ()
    one = Constant <value_float = 1.0> ()
    half = Constant <value_float = 0.5> ()
    d = Div (x, root)
    e = Erf (d)
    s = Add (e, one)
    p = Mul (x, s)
    y = Mul (p, half)
  })",
                               17);
  Model written = clone(source);
  graphopt::prepare(written, pass_context());
  CHECK(operators(*written.graph).find("Gelu") == std::string::npos);
  CHECK(to_string(written.graph->outputs()[0]->type) == "float32[M,4]");
}

TEST_CASE("a function that cannot be put in place of its calls is named before a model is run") {
  Model model = parse_text(R"(<ir_version: 10, opset_import: ["" : 17, "local" : 1]>
    g (float[1,3] x) => (float[1,3] y) { y = local.F (x) }
    <domain: "local", opset_import: ["" : 11]> F (X) => (Y) { Y = Softmax (X) })");
  CHECK(test::contains(test::error_of([&] { graphopt::prepare(model, pass_context()); }),
                       "function 'F' uses Softmax of opset 11"));
}

TEST_CASE("pass names are unique and described") {
  std::set<std::string_view> names;
  for (const Pass* pass : graphopt::all_passes()) {
    INFO(pass->name);
    CHECK(names.insert(pass->name).second);
    CHECK(pass->doc.size() > 10);
    CHECK(pass->doc.back() != '.');
  }
}

TEST_CASE("bodies of old files may hold constants, which raises their IR version") {
  Model model = fixture(R"(g (double[2] x, bool c) => (double[2] y) {
    y = If (c) <then_branch = t () => (double[2] p) { k = Constant <value = double[2] {3, 4}> ()  p = Mul (x, k) },
                else_branch = e () => (double[2] q) { q = Neg (x) }>
  })",
                        8);
  model.ir_version = 3;
  graphopt::fuse(model, pass_context());
  CHECK(operators(*model.graph) == "If[Mul][Neg]");
  CHECK(model.ir_version == 4);
}

TEST_CASE("every pass has a level, and level 1 keeps the numbers of weights as they are") {
  for (const Pass* pass : graphopt::all_passes()) {
    INFO(pass->name);
    CHECK(graphopt::level_of(*pass) >= 1);
    CHECK(graphopt::level_of(*pass) <= graphopt::kOnRequest);
  }
  const auto at = [](int level) {
    Model model = fixture(
        "g (double[N,2,6,6] x, double[4,2,3,3] W, double[4] S) => (double[N,4,4,4] y) "
        "{ a = Identity (x)  c = Conv (a, W)  y = BatchNormalization (c, S, S, S, S) }");
    graphopt::fuse(model, pass_context(), {{}, {}, level});
    return operators(*model.graph);
  };
  CHECK(at(0) == "Identity Conv BatchNormalization");
  CHECK(at(1) == "Conv BatchNormalization");
  CHECK(at(2) == "Conv");
}

TEST_CASE("what a guard objects to is undone and not tried again, and the other passes go on") {
  Model model =
      fixture("g (double[N] x) => (double[N] y) { a = Identity (x)  b = Dropout (a)  c = Neg (b)  y = Neg (c) }");
  graphopt::PassSelection selection;
  std::vector<std::string> seen;
  selection.guard = [&](const Pass& pass, const Model& before, const Model* after, const PassContext&) {
    CHECK(after);
    CHECK(before.graph->node_count() > after->graph->node_count());
    seen.emplace_back(pass.name);
    return pass.name != "eliminate_double_negation";
  };
  const auto tallies = graphopt::fuse(model, pass_context(), selection);
  CHECK(operators(*model.graph) == "Neg Neg");
  CHECK(seen == std::vector<std::string>{"eliminate_identity", "eliminate_dropout", "eliminate_double_negation"});
  CHECK(tallies.at("eliminate_double_negation").applied == 0);
  CHECK(tallies.at("eliminate_dropout").applied == 1);
}

TEST_CASE("what ONNX Runtime adds to the standard's own operators passes the checker") {
  const auto fused_for_ort = [](const std::string& graph, int64_t opset) {
    Model model = fixture(graph, opset);
    PassContext context = pass_context();
    context.target = Target::kOrt;
    graphopt::fuse(model, context);
    CHECK(check_with_onnx(model).errors.empty());
    return operators(*model.graph);
  };
  CHECK(fused_for_ort("g (float[2,8] x) => (float[2,8] y) <float two = {2}, float eps = {0.00001}> "
                      "{ p = Pow (x, two)  m = ReduceMean <axes = [1]> (p)  e = Add (m, eps)  s = Sqrt (e) "
                      "  y = Div (x, s) }",
                      16) == "SimplifiedLayerNormalization");
  CHECK(fused_for_ort("g (bool c, float[2,8] x) => (float[2,8] y) { y = If (c) "
                      "<then_branch = t () => (float[2,8] a) <float two = {2}, float eps = {0.00001}> "
                      "{ m = ReduceMean <axes = [1]> (x)  d = Sub (x, m)  p = Pow (d, two) "
                      "  v = ReduceMean <axes = [1]> (p)  e = Add (v, eps)  s = Sqrt (e)  a = Div (d, s) }, "
                      "else_branch = f () => (float[2,8] b) { b = Neg (x) }> }",
                      11) == "If[LayerNormalization][Neg]");
}

TEST_CASE("a pass that pays on some devices only runs where it is named") {
  const auto fused = [](const std::vector<std::string>& passes) {
    Model model = fixture(
        "g (float[N,M,6] x, float[N,M,6] z, float[6] S, float[6] B) => (float[N,M,6] y) "
        "{ s = Add (x, z)  y = LayerNormalization (s, S, B) }",
        17);
    PassContext context = pass_context();
    context.target = Target::kOrt;
    graphopt::fuse(model, context, {passes, {}});
    return operators(*model.graph);
  };
  CHECK(fused({}) == "Sum LayerNormalization");
  CHECK(fused({"fuse_*"}) == "Add LayerNormalization");
  CHECK(fused({"fuse_skip_norm"}) == "SkipLayerNormalization");
}
