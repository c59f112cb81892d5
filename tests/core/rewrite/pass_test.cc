#include "core/rewrite/pass.h"

#include "core/base/error.h"
#include "core/ir/dump.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::fixture;
using test::operators;
using test::pass_context;

namespace {

/// Relu(x) -> Max(x, x), which is wrong but easy to see.
Expected<Replacement> relu_to_max(const Match& m, Builder& builder) {
  return Replacement{builder.op("Max", {m.value("x"), m.value("x")})};
}
/// Neg(x) -> x.
Expected<Replacement> drop_neg(const Match& m, Builder&) { return Replacement{m.value("x")}; }
Expected<Replacement> never(const Match&, Builder&) { return Decline{"never"}; }

const Pass kReluToMax = {"relu_to_max", "for tests", [] {
                           return std::vector<Rule>{{Pattern::op("Relu", {Pattern::any("x")}), relu_to_max}};
                         }};
const Pass kDropNeg = {"drop_neg", "for tests", [] {
                         return std::vector<Rule>{{Pattern::op("Neg", {Pattern::any("x")}), drop_neg}};
                       }};
const Pass kNever = {"never", "for tests", [] {
                       return std::vector<Rule>{{Pattern::op("Relu", {Pattern::any("x")}), never}};
                     }};
const Pass kForever = {"forever", "for tests", [] {
                         return std::vector<Rule>{{Pattern::op("Relu", {Pattern::any("x")}),
                                                   [](const Match& m, Builder& b) -> Expected<Replacement> {
                                                     return Replacement{b.op("Relu", {m.value("x")})};
                                                   }}};
                       }};
const Pass kBreak = {"break", "for tests", nullptr, [](Model& model, const PassContext&, PassTally& tally) {
                       Node* last = model.graph->nodes().back();
                       model.graph->move_before(last, model.graph->nodes().front());
                       tally.applied = 1;
                     }};

}  // namespace

TEST_CASE("a rule is applied everywhere, also in bodies, and names of outputs stay") {
  Model model = fixture(R"(g (double[N] x, bool c) => (double[N] y, double[N] z) {
    a = Relu (x)
    y = Relu (a)
    z = If (c) <then_branch = t () => (double[N] p) { p = Relu (y) },
                else_branch = e () => (double[N] q) { q = Abs (a) }>
  })");
  CHECK(run_pass(model, kReluToMax, pass_context()).applied == 3);
  CHECK(operators(*model.graph) == "Max Max If[Max][Abs]");
  CHECK(model.graph->outputs()[0]->name == "y");
  CHECK(model.graph->outputs()[0]->producer->op == "Max");
}

TEST_CASE("an output that cannot take the value over gets an Identity") {
  Model model = fixture("g (double[N] x) => (double[N] y, double[N] z) { y = Neg (x)  z = Neg (y) }");
  run_pass(model, kDropNeg, pass_context());
  CHECK(dump(*model.graph) ==
        "(%x:float64[N]) -> (%y, %z)\n"
        "  %y:float64[N] = Identity(%x)\n"
        "  %z:float64[N] = Identity(%y)\n");
}

TEST_CASE("an inner value takes the name of the output that it replaces") {
  Model model = fixture("g (double[N] x) => (double[N] y) { a = Exp (x)  y = Neg (a) }");
  run_pass(model, kDropNeg, pass_context());
  CHECK(dump(*model.graph) == "(%x:float64[N]) -> (%y)\n  %y:float64[N] = Exp(%x)\n");
}

TEST_CASE("of the nodes of a replacement only the first has the name of what they replace") {
  Model model = fixture("g (double[N] x) => (double[N] y) { y = Relu (x) }");
  const Pass split = {"split", "for tests", [] {
                        return std::vector<Rule>{{Pattern::op("Relu", {Pattern::any("x")}),
                                                  [](const Match& m, Builder& b) -> Expected<Replacement> {
                                                    return Replacement{b.op("Neg", {b.op("Abs", {m.value("x")})})};
                                                  }}};
                      }};
  model.graph->nodes()[0]->name = "only";
  run_pass(model, split, pass_context());
  CHECK(model.graph->nodes()[0]->name == "only");
  CHECK_FALSE(model.graph->nodes()[1]->name.empty());
  CHECK(model.graph->nodes()[1]->name != "only");
}

TEST_CASE("no two nodes have one name, whatever values took the names of others") {
  Model model =
      fixture("g (float[3] x) => (float[3] y, float[3] z) { a = Neg (x)  b = Abs (a)  y = Abs (b)  z = Abs (x) }");
  for (Node* node : model.graph->nodes()) node->name = node->op;
  run_pass(model, kDropNeg, pass_context());
  std::vector<std::string> names;
  for (const Node* node : model.graph->nodes()) names.push_back(node->name);
  CHECK(names == std::vector<std::string>{"Abs", "Abs_1", "Abs_2"});
}

TEST_CASE("nodes of one name get the next numbers that are free") {
  Model model = fixture(
      "g (float[3] x) => (float[3] y) { a = Neg (x)  [n] b = Abs (a)  [n_2] c = Abs (b)  [n] d = Abs (c)  "
      "[n] e = Abs (d)  [n_1] y = Abs (e) }");
  run_pass(model, kDropNeg, pass_context());
  std::vector<std::string> names;
  for (const Node* node : model.graph->nodes()) names.push_back(node->name);
  CHECK(names == std::vector<std::string>{"n", "n_2", "n_1", "n_3", "n_1_1"});
}

TEST_CASE("declines are counted once, with an example") {
  Model model = fixture("g (double[N] x) => (double[N] y) { a = Relu (x)  y = Relu (a) }");
  const PassTally tally = run_pass(model, kNever, pass_context());
  CHECK(tally.applied == 0);
  CHECK(tally.declined == std::map<std::string, int64_t>{{"never", 2}});
  CHECK(tally.example.at("never") == "Relu giving 'a'");
}

TEST_CASE("--only and --skip choose nodes by name, or by the first output where there is none") {
  const auto rewritten = [](std::vector<std::string> only, std::vector<std::string> skip) {
    Model model = fixture("g (double[N] x) => (double[N] y) { [stem] a = Relu (x)  y = Relu (a) }");
    PassContext context = pass_context();
    context.only = std::move(only);
    context.skip = std::move(skip);
    run_pass(model, kReluToMax, context);
    return operators(*model.graph);
  };
  CHECK(rewritten({}, {"st*"}) == "Relu Max");
  CHECK(rewritten({"stem"}, {}) == "Max Relu");
  CHECK(rewritten({"y"}, {}) == "Relu Max");
}

TEST_CASE("a pass that never rests, or breaks the graph, is a bug of ours and named") {
  Model model = fixture("g (double[N] x) => (double[N] y) { a = Exp (x)  y = Relu (a) }");
  CHECK(test::contains(test::error_of([&] { run_pass(model, kForever, pass_context()); }), "forever"));
  Model other = fixture("g (double[N] x) => (double[N] y) { a = Exp (x)  y = Relu (a) }");
  CHECK(test::contains(test::error_of([&] { run_pass(other, kBreak, pass_context()); }), "break"));
}

TEST_CASE("a successor takes the name of a constant that only the replaced node reads") {
  Model model = fixture(
      "g (double[2] x, double[2] A, double[2] B) => (double[2] y) { a = Add (x, A)  b = Add (a, B)  y = Mul (b, B) }");
  Graph& graph = *model.graph;
  Builder builder(model, graph, graph.nodes().front());
  Value* own = graph.find("A");
  Value* shared = graph.find("B");
  CHECK(builder.successor(own, *own->constant)->name == "A");
  CHECK(own->name != "A");
  CHECK(builder.successor(shared, *shared->constant)->name != "B");
  CHECK(shared->name == "B");
}

TEST_CASE("nodes without outputs are there for what they do") {
  Model model = fixture("g (double[N] x) => (double[N] y) { y = Exp (x)  a = Neg (x) }");
  model.graph->add_node("local", "Print", {model.graph->find("x")}, {});
  CHECK(remove_dead(model) == 1);
  CHECK(operators(*model.graph) == "Exp Print");
}

TEST_CASE("folding may usually add a hundredth of the file or of the constants, and a few kilobytes") {
  Model model = test::fixture("g (double[N] x) => (double[N] y) { y = Relu (x) }");
  model.graph->add_constant("c", Tensor::zeros(DType::kF32, {500}));
  CHECK(usual_fold_bytes(model) == 4096);
  model.graph->add_constant("d", Tensor::zeros(DType::kF32, {250'000}));
  CHECK(usual_fold_bytes(model) == 10'020);
  model.file_bytes = 2'000'000;
  CHECK(usual_fold_bytes(model) == 20'000);
}

TEST_CASE("a node that a rule adds says in place of which nodes it stands") {
  const Pass join = {"join", "for tests", [] {
                       const auto joined = [](const Match& m, Builder& b) -> Expected<Replacement> {
                         return Replacement{b.op("Abs", {m.value("x")})};
                       };
                       Pattern inner = Pattern::op("Neg|Abs", {Pattern::any("x")}).single_use();
                       return std::vector<Rule>{{Pattern::op("Relu", {std::move(inner)}), joined}};
                     }};
  Model model = fixture(R"(g (double[N] x) => (double[N] y) {
    [first] a = Neg (x)
    [second] b = Relu (a)
    c = Relu (b)
    y = Exp (c)
  })");
  CHECK(run_pass(model, join, pass_context()).applied == 2);
  REQUIRE(operators(*model.graph) == "Abs Exp");
  const Model copy = clone(model);
  CHECK(copy.graph->nodes()[0]->origins == std::vector<std::string>{"Neg 'first'", "Relu 'second'", "Relu giving 'c'"});
  CHECK(copy.graph->nodes()[1]->origins.empty());
}
