#include "backends/gpu/weights.h"

#include <algorithm>
#include <map>

#include "backends/gpu/backend.h"
#include "backends/gpu/interface.h"
#include "backends/reference/backend.h"
#include "core/base/error.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// The memory of a device that has little, in use at the moment.
std::map<void*, size_t> in_use;
size_t most_bytes;

size_t bytes_in_use() {
  size_t bytes = 0;
  for (const auto& [where, size] : in_use) bytes += size;
  return bytes;
}

GpuInterface with_memory(size_t bytes) {
  in_use.clear();
  most_bytes = bytes;
  GpuInterface api = gpu::gpu_interface();
  api.allocate = [](int, size_t size, void** where) -> gpu::Status {
    *where = nullptr;
    if (bytes_in_use() + size > most_bytes) return nullptr;
    in_use[*where = std::aligned_alloc(256, (size + 255) / 256 * 256)] = size;
    return nullptr;
  };
  api.release = [](int, void* where) {
    in_use.erase(where);
    std::free(where);
  };
  return api;
}

/// What a file has at a place where kernels cannot read it.
Tensor at_odd_place(const Tensor& tensor) {
  const auto bytes = std::make_shared<std::vector<std::byte>>(tensor.bytes() + 20);
  std::copy_n(tensor.raw(), tensor.bytes(), bytes->begin() + 4);
  return Tensor::view(tensor.dtype(), tensor.dims(), std::span(*bytes).subspan(4, tensor.bytes()), bytes);
}

/// Rows of 64 numbers, their number free, times these weights.
Net product(const Tensor& weights) {
  Net net;
  Type type = Type::tensor(DType::kF32);
  type.dims = SymDims{Dim::symbol("N"), 64};
  Value* x = net.graph().add_input("x", type);
  net.output(net.op("MatMul", {x, net.constant(weights)}));
  return net;
}

}  // namespace

TEST_CASE("plans for many shapes have their weights on a GPU once, and give them back") {
  const Tensor weights = at_odd_place(uniform({64, 50}, -1, 1));
  const Net net = product(weights);
  const GpuInterface api = with_memory(1 << 30);
  auto plan = gpu_backend(api, 0, {})->compile(net.model, {});
  const auto reference = reference_backend()->compile(net.model, {});
  for (int64_t rows = 1; rows <= 20; ++rows) {
    const std::vector<Datum> x{uniform({rows, 64}, -1, 1)};
    CHECK(!mismatch(plan->run(x)[0].tensor(), reference->run(x)[0].tensor(), 1e-5, 1e-5));
  }
  CHECK(std::count_if(in_use.begin(), in_use.end(), [&](const auto& m) { return m.second == weights.bytes(); }) == 1);
  plan.reset();
  CHECK(in_use.empty());
}

TEST_CASE("where a GPU's memory is full, plans that are not run make room") {
  const Net net = product(uniform({64, 50}, -1, 1));
  constexpr int64_t kRows = 1000;
  const size_t frame = kRows * (64 + 50) * sizeof(float);
  const GpuInterface api = with_memory(3 * frame);
  const auto plan = gpu_backend(api, 0, {})->compile(net.model, {});
  for (int64_t k = 0; k < 8; ++k) CHECK_NOTHROW(plan->run(std::vector<Datum>{uniform({kRows + k % 5, 64}, -1, 1)}));
  CHECK_THROWS_AS(plan->run(std::vector<Datum>{uniform({4 * kRows, 64}, -1, 1)}), Error);
  CHECK_NOTHROW(plan->run(std::vector<Datum>{uniform({kRows, 64}, -1, 1)}));
}

}  // namespace mlopt::test
