#include "prune/depth/blocks.h"

#include "core/onnx/infer.h"
#include "graphopt/pipelines.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// "name: joins at, nodes" of each block.
std::vector<std::string> blocks_of(const std::string& graph, int64_t opset = 21,
                                   std::map<std::string, std::string>* left = nullptr) {
  Model model = test::fixture(graph, opset);
  graphopt::fuse(model, test::pass_context(), {{"constant_to_initializer"}, {}});
  infer(model, standard_types);
  const prune::Blocks found = prune::find_blocks(model);
  if (left) *left = found.left;
  std::vector<std::string> all;
  for (const prune::Block& b : found.blocks) {
    std::string text = b.name + ": " + b.join->called();
    for (const Node* node : b.nodes) text += " " + node->op;
    all.push_back(text);
  }
  return all;
}

using List = std::vector<std::string>;

}  // namespace

TEST_CASE("a block is what is added to what it comes from") {
  CHECK(blocks_of(R"(g (float[N,4,8,8] x, float[4,4,3,3] U, float[4,4,1,1] V, float[4,4,3,3] W) => (float[N,4,8,8] y) {
    [stem] a = Conv <pads = [1, 1, 1, 1]> (x, U)
    [one] b = Conv (a, V)
    [first] c = Add (a, b)
    r = Relu (c)
    [two] d = Conv <pads = [1, 1, 1, 1]> (r, W)
    e = Sigmoid (d)
    [second] y = Add (e, r)
  })") == List{"one: first Conv", "two: second Conv Sigmoid"});
}

TEST_CASE("branches side by side are two blocks") {
  CHECK(blocks_of(R"(g (float[N,S,4] x, float[4,4] U, float[4,4] V) => (float[N,S,4] y) {
    h = Relu (x)
    [left] a = MatMul (h, U)
    [right] b = MatMul (h, V)
    [first] s = Add (h, a)
    [second] y = Add (s, b)
  })") == List{"left: first MatMul", "right: second MatMul"});
}

TEST_CASE("what has other readers stays when the block goes") {
  CHECK(blocks_of(R"(g (float[N,4] x, float[4,4] U, float[4,4] V) => (float[N,4] y, float[N,4] k) {
    [keys] k = MatMul (x, U)
    [out] a = MatMul (k, V)
    [join] y = Add (x, a)
  })") == List{"out: join MatMul"});
}

TEST_CASE("additions that join no block are said with the reason") {
  std::map<std::string, std::string> left;
  CHECK(blocks_of(R"(g (float[N,4,8,8] x, float[4,4,1,1] U, float[4,4,1,1] V, float[4,4,1,1] W, float[1] C,
      float[4,8,8] M)
      => (float[N,4,8,8] y, float[N,4,8,8] z) {
    a = Conv (x, U)
    b = Conv (x, V)
    [shortcut] c = Add (a, b)
    d = Mul (c, M)
    e = Mul (d, C)
    [activation] f = Add (c, e)
    [inner] g = Conv (f, W)
    [joins] h = Add (f, g)
    k = Relu (h)
    [outer] y = Add (c, k)
    p = GlobalAveragePool (f)
    q = Conv (p, U)
    [wide] z = Add (p, f)
  })",
                  21, &left) == List{"inner: joins Conv"});
  CHECK(left.at("shortcut").find("neither side comes from the other") == 0);
  CHECK(left.at("outer").find("made of other blocks") != std::string::npos);
  CHECK_FALSE(left.contains("activation"));
}

TEST_CASE("a block that makes its input larger stays") {
  std::map<std::string, std::string> left;
  CHECK(blocks_of(R"(g (float[1,4] x, float[3,4,4] U) => (float[3,1,4] y) {
    r = Relu (x)
    a = MatMul (r, U)
    [join] y = Add (r, a)
  })",
                  21, &left)
            .empty());
  CHECK(left.at("join") == "without the block the shape would be another");
}

TEST_CASE("sizes that are free on both sides may be equal") {
  CHECK(blocks_of(R"(g (float[N,4] x, int64[2] shape, float[4,4] U) => (float[M,4] y) {
    [one] a = MatMul (x, U)
    b = Reshape (a, shape)
    [join] y = Add (x, b)
  })") == List{"one: join MatMul Reshape"});
}
