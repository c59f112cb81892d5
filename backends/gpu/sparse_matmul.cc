// Products of half floats by constant weights of which two in four neighbours along k are zero, by cuSPARSELt where it
// is installed: tensor cores leave the zeros out.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/exec/weight_cache.h"
#include "core/ir/read_activation.h"

namespace mlopt::gpu {
namespace {

enum Input { kSource, kWeights, kRow, kValues };

/// What tiles of tensor cores divide.
constexpr int64_t kOfRows = 8, kOfColumns = 16, kOfDepth = 32;
constexpr size_t kRoom = size_t{32} << 20;
constexpr uintptr_t kAlignedTo = 16;  // matrices, in bytes

/// Weights [n, k], or [k, n] where turned: are at most two of each four neighbours along k not zero?
bool has_pattern(const Tensor& weights, bool turned) {
  const int64_t rows = weights.dim(0), columns = weights.dim(1), n = turned ? columns : rows,
                k = turned ? rows : columns;
  const auto is_set = [&](int64_t i, int64_t j) {
    uint16_t bits = 0;
    std::memcpy(&bits, weights.raw() + 2 * (turned ? j * n + i : i * k + j), sizeof bits);
    return (bits & 0x7fff) != 0;
  };
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; j += 4)
      if (is_set(i, j) + is_set(i, j + 1) + is_set(i, j + 2) + is_set(i, j + 3) > 2) return false;
  return true;
}

/// Compressed when they are first needed, by the device.
class Compressed {
 public:
  /// Null where the library declines.
  const std::byte* at(const Buffers& b, SparseCompressArgs args) {
    const std::lock_guard lock(mutex_);
    if (!tried_) compress(b, args);
    return compressed_.at();
  }

 private:
  void compress(const Buffers& b, SparseCompressArgs args) {
    WorkQueue& queue = queue_of(b);
    bool declined = false;
    size_t bytes = 0, room_bytes = 0;
    args.bytes = &bytes, args.room_bytes = &room_bytes, args.declined = &declined;
    launch(b, &Kernels::sparse_compress, args);
    tried_ = declined;
    if (declined) return;
    Memory made(queue.device(), bytes);
    const Memory room(queue.device(), room_bytes);
    args.to = made.at(), args.room = room.at();
    launch(b, &Kernels::sparse_compress, args);
    queue.wait();
    if (!declined) compressed_ = std::move(made);
    tried_ = true;
  }

  std::mutex mutex_;
  bool tried_ = false;
  Memory compressed_;
};

struct Run {
  SparseProductArgs args;
  Activation act;
  bool row, values;
  std::shared_ptr<Compressed> weights;
  std::function<void(const Buffers&)> own;

  void operator()(const Buffers& b) const {
    bool declined = false;
    const auto fits = [](const void* at) { return reinterpret_cast<uintptr_t>(at) % kAlignedTo == 0; };
    if (!fits(b.in<void>(kSource)) || !fits(b.out<void>(0))) return own(b);
    SparseProductArgs now = args;
    now.weights = weights->at(
        b, {args.type, args.turned, args.n, args.k, b.in<void>(kWeights), nullptr, nullptr, nullptr, nullptr, nullptr});
    if (!now.weights) return own(b);
    now.x = b.in<void>(kSource);
    now.out = b.out<void>(0);
    now.room = b.scratch;
    now.declined = &declined;
    launch(b, &Kernels::sparse_product, now);
    if (declined) return own(b);
    if (!row && !values && act.fn == Fn::kNone) return;
    launch(b, &Kernels::conv_end,
           ConvEndArgs{args.type, act, Divider(args.n), Divider(1), args.m * args.n, row ? b.in<void>(kRow) : nullptr,
                       values ? b.in<void>(kValues) : nullptr, b.out<void>(0)});
  }
};

/// As the product is planned without this library.
Expected<PlannedStep> own_product(const Site& site) {
  for (const Kernel& kernel : matmul_kernels())
    if (kernel.op == site.view.node().op && kernel.domain == site.view.node().domain) return kernel.plan(site);
  return Decline{"no product"};
}

/// What is added: a row of n numbers, or as many as the product has.
bool fit_added(const Site& site, int64_t n, const TensorDesc& out) {
  const DType type = out.dtype;
  if (site.has(kRow) &&
      (site.desc(kRow).dtype != type || site.desc(kRow).size() != n || site.desc(kRow).dims.back() != n))
    return false;
  return !site.has(kValues) || (site.desc(kValues).dtype == type && site.desc(kValues).dims == out.dims);
}

Expected<PlannedStep> plan(const Site& site) {
  const TensorDesc& x = site.desc(kSource);
  const Tensor* weights = site.constant(kWeights);
  const auto type = float_of(x.dtype);
  const auto act = fused_activation(site.view);
  if (!type || !act || bits(x.dtype) != 16 || !weights || weights->dtype() != x.dtype || weights->rank() != 2 ||
      x.dims.size() < 2)
    return Decline{"no half floats with constant weights"};
  if (site.view.get_float("alpha", 1) != 1 || site.view.get_float("beta", 1) != 1 ||
      site.view.get_int("transA", 0) != 0)
    return Decline{"it scales or transposes its operands"};
  const bool turned = site.view.get_int("transB", 0) == 0;
  const int64_t k = weights->dim(turned ? 0 : 1), n = weights->dim(turned ? 1 : 0), m = x.size() / k;
  if (x.dims.back() != k || m % kOfRows != 0 || n % kOfColumns != 0 || k % kOfDepth != 0)
    return Decline{"sizes that tiles do not divide"};
  auto own = own_product(site);
  if (!own || !fit_added(site, n, own->out[0])) return own ? Decline{"what it adds does not fit"} : own.error();
  if (!has_pattern(*weights, turned)) return Decline{"weights that are not zero, two in four"};
  PlannedStep step{.out = own->out};
  step.label = "cusparselt";
  step.scratch_bytes = std::max(kRoom, own->scratch_bytes);
  step.run = Run{{*type, turned, m, n, k, nullptr, nullptr, nullptr, nullptr, kRoom, nullptr},
                 *act,
                 site.has(kRow),
                 site.has(kValues),
                 shared_weights<Compressed>(site.context.weights, *weights, "cusparselt",
                                            [] { return std::make_shared<Compressed>(); }),
                 own->run};
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "MatMul", .plan = plan},
    {.domain = "mlopt", .op = "MatMulAdd", .plan = plan},
    {.domain = "", .op = "Gemm", .plan = plan},
    {.domain = "com.microsoft", .op = "FusedGemm", .plan = plan},
};

}  // namespace

std::span<const Kernel> sparse_kernels() { return kKernels; }

}  // namespace mlopt::gpu
