#include "core/exec/bf16_values.h"

#include <set>
#include <string>

#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

Bf16Rule rule_of(const Node& node) {
  if (node.op == "Conv") return {.multiplies = 1, .writes = true};
  if (node.op == "FusedConv") return {.multiplies = 1, .passes = 8, .writes = true};
  if (node.op == "MatMul") return {.multiplies = 3, .writes = true};
  if (node.op == "Reshape" || node.op == "Split") return {.passes = 1};
  if (node.op == "Concat") return {.passes = ~0u};
  return {};
}

struct Names {
  std::set<std::string> kept, copied;
};

Names chosen(const std::string& graph) {
  Model model = parse_text("<ir_version: 10, opset_import: [\"\" : 21, \"com.microsoft\" : 1]> main " + graph);
  infer(model, standard_types);
  // Types of other domains are those of input 0 here.
  for (Node* node : model.graph->nodes())
    if (node->domain == "com.microsoft") node->output(0)->type = node->input(0)->type;
  Names names;
  const Bf16Values values = bf16_values(*model.graph, rule_of);
  for (const Value* v : values.kept) names.kept.insert(v->name);
  for (const Value* v : values.copied) names.copied.insert(v->name);
  return names;
}

using Set = std::set<std::string>;

}  // namespace

TEST_CASE("what lies between products is kept in bfloat16, what enters and leaves the graph is not") {
  const Names names = chosen(R"((float[4,4] x, float[4,4] w) => (float[4,4] y) {
    a = MatMul (x, w) b = MatMul (a, w) y = MatMul (b, w) })");
  CHECK(names.kept == Set{"a", "b"});
  CHECK(names.copied == Set{"w"});
}

TEST_CASE("a reader that needs float32 keeps a value from bfloat16") {
  CHECK(chosen(R"((float[4,4] x) => (float[4,4] y, float[4,4] z) {
    a = MatMul (x, x) b = MatMul (a, a) z = Softmax (a) y = MatMul (b, b) })")
            .kept == Set{"b"});
  CHECK(
      chosen(R"((float[4,4] x) => (float[4,4] a, float[4,4] y) { a = MatMul (x, x) y = MatMul (a, a) })").kept.empty());
}

TEST_CASE("a value that only operators on float32 make, or read, stays in it") {
  const Names names = chosen(R"((float[4,4] x) => (float[4,4] y) {
    a = Softmax (x) b = MatMul (a, a) y = Softmax (b) })");
  CHECK(names.kept.empty());
  CHECK(names.copied == Set{"a"});
}

TEST_CASE("what moves elements takes and gives one type") {
  CHECK(chosen(R"((float[4,4] x) => (float[4,8] y) <int64[2] s = {4, 4}> {
    a = MatMul (x, x) b = Reshape (a, s) c = Concat <axis = 1> (b, a) d = MatMul (b, c) y = Softmax (d) })")
            .kept == Set{"a", "b", "c"});
  // One of the parts is read in float32, another one is not multiplied anywhere.
  CHECK(chosen(R"((float[4,4] x) => (float[4,2] y, float[4,4] z) {
    a = MatMul (x, x) b, c = Split <axis = 1, num_outputs = 2> (a) y = Softmax (b) z = MatMul (c, b) })")
            .kept.empty());
  // A part in float32: an input of the graph.
  CHECK(chosen(R"((float[4,4] x) => (float[4,8] y) {
    a = MatMul (x, x) b = Concat <axis = 1> (a, x) y = MatMul (x, b) })")
            .kept.empty());
}

TEST_CASE("a sum is kept in bfloat16 where it is multiplied afterwards") {
  CHECK(chosen(R"((float[1,4,8,8] x, float[4,4,1,1] w) => (float[1,4,8,8] y) {
    a = Conv (x, w) b = Conv (a, w) s = com.microsoft.FusedConv (b, w, , a) y = Conv (s, w) })")
            .kept == Set{"a", "b", "s"});
  CHECK(chosen(R"((float[1,4,8,8] x, float[4,4,1,1] w) => (float[1,4,8,8] y) {
    a = Conv (x, w) b = Conv (x, w) s = com.microsoft.FusedConv (b, w, , a) y = Softmax (s) })")
            .kept == Set{"b"});
}

TEST_CASE("what a body reads stays in float32") {
  CHECK(chosen(R"((float[4,4] x, bool c) => (float[4,4] y, float[4,4] z) {
    a = MatMul (x, x) y = MatMul (a, a)
    z = If (c) <then_branch = t () => (float[4,4] p) { p = MatMul (a, a) },
                else_branch = e () => (float[4,4] q) { q = Softmax (a) }> })")
            .kept.empty());
}

TEST_CASE("numbers of other types are left alone") {
  CHECK(chosen(R"((double[4,4] x) => (double[4,4] y) { a = MatMul (x, x) y = MatMul (a, a) })").kept.empty());
}
