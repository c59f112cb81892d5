// Matrix products by tiles of our own, with the addend and the activation in their epilogue.

#include <algorithm>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/dnn.h"
#include "backends/cpu/matmul.h"
#include "backends/cpu/packed_product.h"
#include "core/base/parallel.h"
#include "core/exec/weight_cache.h"

namespace mlopt::cpu {
namespace {

/// Strides of the last two axes of a row-major operand, which are stored the other way round when swapped.
MatrixView view_of(const float* data, const Dims& dims, bool swapped) {
  return swapped ? MatrixView{data, 1, dims[dims.size() - 2]} : MatrixView{data, dims.back(), 1};
}

ProductShape shape_of(const Product& p) {
  ProductShape shape{p.m(), p.n(), p.k(), {}};
  BatchAxis step{1, p.m() * p.k(), p.k() * p.n(), p.m() * p.n()};
  const size_t batch = p.out.size() - 2;
  const auto dim = [&](const Dims& dims, size_t axis) { return dims.size() == p.out.size() ? dims[axis] : int64_t{1}; };
  for (size_t axis = batch; axis-- > 0;) {
    const int64_t a = dim(p.a, axis), b = dim(p.b, axis), count = p.out[axis];
    shape.batch.insert(shape.batch.begin(), {count, a == 1 ? 0 : step.a, b == 1 ? 0 : step.b, step.c});
    step = {1, step.a * a, step.b * b, step.c * count};
  }
  return shape;
}

bool one_matrix(const Product& p) {
  return std::all_of(p.b.begin(), p.b.end() - 2, [](int64_t d) { return d == 1; });
}

std::shared_ptr<const PackedMatrix> packed_tiles(const MatMul& s, const Site& site) {
  const Tensor& b = *constant_right(site);
  const int64_t k = b.dim(s.swap_right ? 1 : 0), n = b.dim(s.swap_right ? 0 : 1);
  return shared_weights<PackedMatrix>(site.context.weights, b, s.swap_right ? "tiles of rows" : "tiles", [&] {
    const Tensor source = b.aligned();
    return std::make_shared<PackedMatrix>(view_of(source.data<float>(), {k, n}, s.swap_right), k, n);
  });
}

}  // namespace

/// oneDNN's products reach the peak of AVX-512 and AMX but not that of older units, where the tiles are faster but for
/// two kinds of thin products: those in which little is left to multiply for each element that is packed, and those
/// with less columns than fill a vector.
bool prefers_tiles(int64_t m, int64_t k, int64_t n, bool constant_right) {
  constexpr int64_t kFewRows = 8, kFewColumns = 4, kSmall = 1 << 14;
  if (m * n * k < kSmall) return true;  // a primitive's call costs more than all of it
  if (has_avx512()) return false;
  return n >= kFewColumns && (constant_right || m >= kFewRows);
}

namespace {

/// Are the constants of the graph more than the last cache keeps from one run to the next? Those of few bits are floats
/// by then.
bool reads_memory(const Graph& graph) {
  constexpr int64_t kCached = int64_t{32} << 20, kFloat = sizeof(float);
  int64_t bytes = 0;
  for (const Value* v : graph.initializers())
    if (v->constant) bytes += std::max(static_cast<int64_t>(v->constant->bytes()), v->constant->size() * kFloat);
  return bytes > kCached;
}

}  // namespace

/// More weights than the second-level cache keeps from one run to the next, and rows that are too few to hide fetching
/// them: the tiles fetch what they need next, which brings more than oneDNN's faster loops. A few rows, as of a token
/// that a decoder adds, only wait where the weights come from memory: those that the last cache keeps oneDNN reads as
/// fast, and shares better among threads.
bool waits_for_weights(int64_t m, int64_t k, int64_t n, const Node& node) {
  constexpr int64_t kFewRows = 8, kManyRows = 256, kCached = 1 << 18;
  return m <= kManyRows && k * n >= kCached && (m >= kFewRows || reads_memory(*node.graph()));
}

PlannedStep plan_tiles(const MatMul& s, const Product& p, const Site& site) {
  const auto right = constant_right(site) && one_matrix(p) ? packed_tiles(s, site) : nullptr;
  const auto plan = std::make_shared<const ProductPlan>(shape_of(p), right, max_threads());
  // What repeats is spread over the output first, which is then added to.
  const bool spreads = s.addend >= 0 && site.desc(s.addend).size() != element_count(p.result);
  const Paired spread = spreads ? paired(p.result, site.desc(s.addend).dims, {}) : Paired{};
  PlannedStep step{.out = {{DType::kF32, p.result}}};
  step.scratch_bytes = plan->workspace_bytes();
  step.label = "tiles";
  if (right) {
    step.packed = {MatMul::kRight};
    step.packed_bytes = right->bytes();
  }
  if (!spreads) step.in_place = s.addend;
  step.run = [=](const Buffers& b) {
    ProductArgs args;
    args.a = view_of(b.in<float>(MatMul::kLeft), p.a, s.swap_left);
    if (!right) args.b = view_of(b.in<float>(MatMul::kRight), p.b, s.swap_right);
    args.c = b.out<float>(0);
    args.c_stride = args.addend_stride = p.n();
    args.alpha = s.alpha;
    args.beta = s.beta;
    args.activation = s.act;
    if (s.bias >= 0) args.bias = b.in<float>(s.bias);
    if (s.addend >= 0) args.addend = b.in<float>(s.addend);
    if (spreads) {
      run_arithmetic(Arithmetic::kMul, spread, args.addend, &s.beta, args.c);
      args.addend = args.c;
      args.beta = 1;
    }
    plan->run(args, b.scratch);
  };
  return step;
}

}  // namespace mlopt::cpu
