#include "core/exec/pieces.h"

#include "core/base/text.h"
#include "core/onnx/io.h"
#include "core/tensor/compare.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/op.h"

using namespace mlopt;

namespace {

constexpr int64_t kSamples = 12;

std::unique_ptr<Executable> compiled(const std::string& graph) {
  CompileOptions options;
  options.threads = 2;
  return test::cpu_with_fallback()->compile(parse_text("<ir_version: 10, opset_import: [\"\" : 21]> g " + graph),
                                            options);
}

/// Samples [i, i + 1) of a batch.
Tensor sample(const Tensor& batch, int64_t i) {
  Dims dims = batch.dims();
  dims[0] = 1;
  const size_t bytes = batch.bytes() / static_cast<size_t>(batch.dim(0));
  return Tensor::view(batch.dtype(), dims, {batch.raw() + bytes * static_cast<size_t>(i), bytes}, nullptr);
}

/// In how many pieces inputs of these dims are run.
int64_t pieces(Executable& plan, const Dims& dims) {
  const auto info = plan.plan_info(std::vector<Datum>{test::uniform(dims, -1, 1)});
  REQUIRE(info);
  REQUIRE_FALSE(info->steps.empty());
  if (info->steps[0].op != "Batch") return 1;
  return parse_int(split(info->steps[0].kernel, ' ').at(1)).value();
}
int64_t pieces(const std::string& graph, const Dims& dims) { return pieces(*compiled(graph), dims); }

/// Twelve samples are run in several pieces, and give what each of them gives alone.
void require_pieces(const std::string& graph, const Dims& dims) {
  const auto plan = compiled(graph), alone = compiled(graph);
  Dims all = dims;
  all.insert(all.begin(), kSamples);
  const Tensor x = test::uniform(all, -1, 1);
  CHECK(pieces(*plan, all) > 1);
  const Tensor y = plan->run(std::vector<Datum>{x})[0].tensor();
  REQUIRE(y.dim(0) == kSamples);
  for (int64_t i = 0; i < kSamples; ++i) {
    const Tensor one = alone->run(std::vector<Datum>{sample(x, i)})[0].tensor();
    REQUIRE_FALSE(mismatch(sample(y, i), one, 1e-4, 1e-4));
  }
}

}  // namespace

TEST_CASE("a batch that does not fit into the cache is run in pieces") {
  require_pieces(R"((float[N,8,96,96] x) => (float[N,8] y) {
    size = Constant <value_ints = [8, 1, 3, 3]> ()
    w = ConstantOfShape <value = float[1] {0.25}> (size)
    c = Conv <group = 8, pads = [1, 1, 1, 1]> (x, w)
    r = Relu (c)
    s = Add (r, x)
    p = GlobalAveragePool (s)
    y = Flatten (p)
  })",
                 {8, 96, 96});
  require_pieces(R"((float[N,256,64] x) => (float[N,256,64] y) {
    size = Constant <value_ints = [64, 64]> ()
    w = ConstantOfShape <value = float[1] {0.0625}> (size)
    q = MatMul (x, w)
    t = Transpose <perm = [0, 2, 1]> (x)
    scores = MatMul (q, t)
    p = Softmax <axis = -1> (scores)
    y = MatMul (p, x)
  })",
                 {256, 64});
}

TEST_CASE("a batch that fits, or whose samples meet, is one piece") {
  const std::string neg = "{ y = Neg (x) }";
  CHECK(pieces("(float[N,8] x) => (float[N,8] y) " + neg, {64, 8}) == 1);
  CHECK(pieces("(float[N,262144] x) => (float[N,262144] y) " + neg, {64, 262144}) > 1);
  CHECK(pieces("(float[64,262144] x) => (float[64,262144] y) " + neg, {64, 262144}) == 1);  // N is not free
  CHECK(pieces("(float[N,262144] x) => (float[N,262144] y) { y = Softmax <axis = 0> (x) }", {64, 262144}) == 1);
  CHECK(pieces("(float[N,262144] x) => (float[N,262144] y) " + neg, {1, 262144}) == 1);
}

TEST_CASE("a batch is one piece where its size is the length of another axis too") {
  const std::string sizes = "{ n = Shape <end = 1> (x) nn = Concat <axis = 0> (n, n) y = Neg (x) ";
  const Dims dims{64, 262144};
  CHECK(pieces("(float[N,262144] x) => (float[N,262144] y, float[N,N] z) " + sizes +
                   "a = Constant <value_ints = [1]> () c = ReduceMax (x, a) z = Expand (c, nn) }",
               dims) == 1);
  CHECK(pieces("(float[N,262144] x) => (float[N,262144] y, float[N,N] z) " + sizes + "z = ConstantOfShape (nn) }",
               dims) == 1);
  CHECK(pieces("(float[N,262144] x) => (float[N,262144] y, float[N,N,K] z) " + sizes +
                   "m = Constant <value_ints = [-1]> () q = Concat <axis = 0> (nn, m) z = Reshape (x, q) }",
               dims) == 1);
}
