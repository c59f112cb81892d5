#include "core/exec/layouts.h"

#include <fmt/core.h>

#include <set>
#include <string>

#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

LayoutRule rule_of(const Node& node) {
  if (node.op == "Conv" || node.op == "MaxPool") return LayoutRule::kChannelsLast;
  if (node.op == "Relu" || node.op == "Add" || node.op == "Cast") return LayoutRule::kFollows;
  return LayoutRule::kRowMajor;
}

std::set<std::string> chosen(const std::string& graph) {
  Model model = parse_text("<ir_version: 10, opset_import: [\"\" : 21]> main " + graph);
  infer(model, standard_types);
  std::set<std::string> names;
  for (const Value* v : channels_last_values(*model.graph, rule_of)) names.insert(v->name);
  return names;
}

using Names = std::set<std::string>;

}  // namespace

TEST_CASE("what lies between convolutions is channels-last, what enters and leaves the graph is not") {
  CHECK(chosen(R"((float[1,4,8,8] x, float[4,4,3,3] W) => (float[1,4,4,4] y) {
    a = Conv (x, W) b = Relu (a) y = Conv (b, W) })") == Names{"a", "b"});
}

TEST_CASE("a picture of few channels is not copied for a convolution") {
  const auto convolved = [](const char* channels) {
    return chosen(fmt::format(R"((float16[1,{0},8,8] x, float[4,{0},3,3] W, float[4,4,3,3] V) => (float[1,4,4,4] y) {{
      wide = Cast <to = 1> (x) a = Conv (wide, W) y = Conv (a, V) }})",
                              channels));
  };
  CHECK(convolved("3") == Names{"a"});
  CHECK(convolved("8") == Names{"x", "wide", "a"});
}

TEST_CASE("values that an operator ties together are decided by their bytes") {
  // The sum is read by three operators that need row-major: more bytes than the convolutions around it save.
  CHECK(chosen(R"((float[1,4,8,8] x, float[4,4,1,1] W) => (float[1,8,8,4] p, float[1,8,8,4] q, float[1,8,8,4] r) {
    a = Conv (x, W) s = Relu (a)
    p = Transpose <perm = [0, 2, 3, 1]> (s) q = Transpose <perm = [0, 2, 3, 1]> (s)
    r = Transpose <perm = [0, 2, 3, 1]> (s) })")
            .empty());
  CHECK(chosen(R"((float[1,4,8,8] x, float[4,4,1,1] W) => (float[1,8,8,4] p, float[1,4,8,8] y) {
    a = Conv (x, W) b = Conv (a, W) s = Add (a, b) c = Conv (s, W)
    p = Transpose <perm = [0, 2, 3, 1]> (s) y = Conv (c, W) })") == Names{"a", "b", "s", "c"});
}

TEST_CASE("elements that are not copied between layouts stay row-major") {
  const std::string convolutions = R"(a = Conv (x, W) b = Relu (a) y = Conv (b, W) })";
  CHECK(chosen("(float[1,4,8,8] x, float[4,4,3,3] W) => (float[1,4,4,4] y) {" + convolutions).size() == 2);
  CHECK(chosen("(double[1,4,8,8] x, double[4,4,3,3] W) => (double[1,4,4,4] y) {" + convolutions).empty());
}

TEST_CASE("tensors that have no layout, or no known shape, are left alone") {
  CHECK(chosen(R"((float[1,4,8,8] x, float[4,4,8,8] W) => (float[1,4,1,1] y) {
    a = Conv (x, W) b = Relu (a) y = Conv <kernel_shape = [1, 1]> (b, b) })")
            .empty());
  CHECK(chosen(R"((float[1,4,N,8] x, float[4,4,3,3] W) => (float[1,4,M,4] y) {
    a = Conv (x, W) b = Relu (a) y = Conv (b, W) })")
            .empty());
}
