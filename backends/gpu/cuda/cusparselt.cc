// cuSPARSELt multiplies by matrices of which two in four neighbours are zero, where it is installed. Nothing here knows
// of CUDA: tests bring a library of their own.
#include "backends/gpu/cuda/cusparselt.h"

#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "backends/gpu/cuda/opened.h"
#include "backends/gpu/sparse_library.h"

#if __has_include(<cusparseLt.h>)
#include <cusparseLt.h>
static_assert(sizeof(cusparseLtMatmulPlan_t) <= sizeof(mlopt::gpu::slt::Described));
static_assert(CUSPARSE_COMPUTE_32F == mlopt::gpu::slt::kInFloat);
static_assert(CUSPARSE_ORDER_COL == mlopt::gpu::slt::kColumns && CUSPARSE_ORDER_ROW == mlopt::gpu::slt::kRows);
static_assert(CUDA_R_16F == mlopt::gpu::slt::kHalf && CUDA_R_16BF == mlopt::gpu::slt::kBFloat16);
#endif

namespace mlopt::gpu {
namespace slt {
namespace {

constexpr int kOldest = 600;

int version_of(const Library& l) {
  int major = 0, minor = 0, patch = 0;
  const bool known = !l.property(kMajor, &major) && !l.property(kMinor, &minor) && !l.property(kPatch, &patch);
  return known ? major * 1000 + minor * 100 + patch : 0;
}

void open(Library& l) {
  const Opened library(kSparseLibrary);
  if (!library) return;
  const auto find = [&](const char* name, auto& function) { return library.find(name, function); };
  l.ready = find("cusparseLtGetProperty", l.property) && find("cusparseLtInit", l.init) &&
            find("cusparseLtDestroy", l.destroy) && find("cusparseLtDenseDescriptorInit", l.dense) &&
            find("cusparseLtStructuredDescriptorInit", l.structured) &&
            find("cusparseLtMatDescriptorDestroy", l.destroy_matrix) &&
            find("cusparseLtMatmulDescriptorInit", l.product) && find("cusparseLtMatmulAlgSelectionInit", l.select) &&
            find("cusparseLtMatmulPlanInit", l.plan) && find("cusparseLtMatmulPlanDestroy", l.destroy_plan) &&
            find("cusparseLtMatmulGetWorkspace", l.room) && find("cusparseLtMatmul", l.multiply) &&
            find("cusparseLtSpMMACompressedSize2", l.compressed_size) && find("cusparseLtSpMMACompress2", l.compress);
}

}  // namespace

const Library& library() {
  static std::mutex mutex;
  static Library loaded;
  const std::lock_guard lock(mutex);
  if (!loaded.ready) open(loaded);
  return loaded;
}

}  // namespace slt

namespace {

using slt::Described;
using slt::library;

int type_of(Elem type) { return type == Elem::kBF16 ? slt::kBFloat16 : slt::kHalf; }

/// A matrix, when init() has described it.
struct Matrix {
  Described at;
  bool made = false;
  Matrix() = default;
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() {
    if (made) library().destroy_matrix(&at);
  }
};

/// Weights [n, k], or [k, n] where they are turned, as the left operand [n, k].
bool describe_weights(const Described& handle, Matrix& weights, Elem type, bool turned, int64_t n, int64_t k) {
  weights.made = library().structured(&handle, &weights.at, turned ? k : n, turned ? n : k, turned ? n : k,
                                      slt::kAlignment, type_of(type), slt::kRows, slt::kHalfOfAll) == 0;
  return weights.made;
}

int operation_of(bool turned) { return turned ? slt::kTransposed : slt::kPlain; }

/// weights [n, k] times x [m, k], transposed, is [n, m] in columns: out [m, n] as it lies.
struct Product {
  Matrix weights, x, out;
  Described how, selection, plan;
  size_t room = 0;
  bool ready = false;

  Product(const Described& handle, const SparseProductArgs& args) {
    const slt::Library& l = library();
    const int type = type_of(args.type);
    if (!describe_weights(handle, weights, args.type, args.turned, args.n, args.k)) return;
    x.made = l.dense(&handle, &x.at, args.m, args.k, args.k, slt::kAlignment, type, slt::kRows) == 0;
    out.made = l.dense(&handle, &out.at, args.n, args.m, args.n, slt::kAlignment, type, slt::kColumns) == 0;
    if (!x.made || !out.made) return;
    if (l.product(&handle, &how, operation_of(args.turned), slt::kTransposed, &weights.at, &x.at, &out.at, &out.at,
                  slt::kInFloat) != 0)
      return;
    if (l.select(&handle, &selection, &how, slt::kDefault) != 0) return;
    if (l.plan(&handle, &plan, &how, &selection) != 0) return;
    ready = true;
    if (l.room(&handle, &plan, &room) != 0) room = ~size_t{0};
  }
  ~Product() {
    if (ready) library().destroy_plan(&plan);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
};

}  // namespace

struct SparseMultiplier {
  Described handle;
  std::map<std::array<int64_t, 5>, std::unique_ptr<Product>> products;  ///< by type, turned, m, n, k
  bool made = library().init(&handle) == 0;

  SparseMultiplier() = default;
  SparseMultiplier(const SparseMultiplier&) = delete;
  SparseMultiplier& operator=(const SparseMultiplier&) = delete;
  ~SparseMultiplier() {
    products.clear();
    if (made) library().destroy(&handle);
  }
};

namespace {

SparseMultiplier* multiplier_in(Queue& queue) {
  SparseMultiplier*& multiplier = sparse_multiplier_of(queue);
  if (!multiplier && library().ready) multiplier = new SparseMultiplier;
  return multiplier && multiplier->made ? multiplier : nullptr;
}

}  // namespace

int sparse_version() {
  const slt::Library& l = library();
  const int version = l.ready ? slt::version_of(l) : 0;
  return version >= slt::kOldest ? version : 0;
}

Status sparse_compress(Queue& queue, const SparseCompressArgs& args) {
  *args.declined = true;
  void* stream = stream_handle(queue);
  SparseMultiplier* multiplier = multiplier_in(queue);
  Matrix weights;
  if (!multiplier || !describe_weights(multiplier->handle, weights, args.type, args.turned, args.n, args.k))
    return nullptr;
  const slt::Code failed =
      args.to ? library().compress(&multiplier->handle, &weights.at, 1, operation_of(args.turned), args.weights,
                                   args.to, args.room, stream)
              : library().compressed_size(&multiplier->handle, &weights.at, args.bytes, args.room_bytes);
  *args.declined = failed != 0;
  return nullptr;
}

Status sparse_product(Queue& queue, const SparseProductArgs& args) {
  *args.declined = true;
  void* stream = stream_handle(queue);
  SparseMultiplier* multiplier = multiplier_in(queue);
  if (!multiplier) return nullptr;
  std::unique_ptr<Product>& product =
      multiplier->products[{static_cast<int64_t>(args.type), args.turned, args.m, args.n, args.k}];
  if (!product) product = std::make_unique<Product>(multiplier->handle, args);
  if (!product->ready || product->room > args.room_bytes) return nullptr;
  const float one = 1, none = 0;
  const slt::Code failed = library().multiply(&multiplier->handle, &product->plan, &one, args.weights, args.x, &none,
                                              args.out, args.out, args.room, &stream, 1);
  *args.declined = failed != 0;
  return nullptr;
}

void drop(SparseMultiplier* multiplier) { delete multiplier; }

}  // namespace mlopt::gpu
