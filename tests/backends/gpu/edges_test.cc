#include "backends/gpu/edges.h"

#include <map>

#include "backends/gpu/backend.h"
#include "backends/reference/kernels.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

/// Of allocate_host(), as far as it is in use, and of copies that began or ended elsewhere on the host.
std::map<const std::byte*, size_t> pinned;
int copies = 0, straight = 0;
bool is_short = false;

bool is_pinned(const void* at) {
  const auto* place = static_cast<const std::byte*>(at);
  const auto next = pinned.upper_bound(place);
  return next != pinned.begin() && place < std::prev(next)->first + std::prev(next)->second;
}

GpuInterface watched() {
  pinned.clear();
  copies = straight = 0;
  GpuInterface api = gpu::gpu_interface();
  api.allocate_host = [](int device, size_t bytes, void** where) -> gpu::Status {
    *where = nullptr;
    if (is_short) return nullptr;
    const gpu::Status failed = gpu::gpu_interface().allocate_host(device, bytes, where);
    pinned[static_cast<std::byte*>(*where)] = bytes;
    return failed;
  };
  api.release_host = [](int device, void* where) {
    pinned.erase(static_cast<std::byte*>(where));
    gpu::gpu_interface().release_host(device, where);
  };
  api.transfer = [](gpu::Queue* queue, void* to, const void* from, size_t bytes) {
    ++copies;
    straight += !is_pinned(to) && !is_pinned(from);
    return gpu::gpu_interface().transfer(queue, to, from, bytes);
  };
  return api;
}

/// What y = -x gives.
Tensor negated(const GpuInterface& api, const Tensor& x) {
  Net net;
  net.output(net.op("Neg", {net.graph().add_input("x", Type::tensor(DType::kF32, x.dims()))}));
  const auto backend = gpu_backend(api, 0, {reference::all_kernels(), false, standard_types});
  const auto plan = backend->compile(net.model, {});
  plan->run(std::vector<Datum>{x});
  return plan->run(std::vector<Datum>{x})[0].tensor();
}

void check_negated(const Tensor& y, const Tensor& x) {
  REQUIRE(y.size() == x.size());
  bool same = true;
  for (int64_t i = 0; i < x.size(); ++i) same = same && y.data<float>()[i] == -x.data<float>()[i];
  CHECK(same);
}

}  // namespace

TEST_CASE("inputs and outputs go to the GPU and back by memory that copies reach at full speed") {
  const GpuInterface api = watched();
  const Tensor x = uniform({600, 1000}, -1, 1);  // more than two pieces
  check_negated(negated(api, x), x);
  CHECK(copies == 2 * (3 + 1));
  CHECK(straight == 0);
  CHECK(pinned.empty());
}

TEST_CASE("where such memory is short inputs and outputs go straight") {
  const GpuInterface api = watched();
  is_short = true;
  const Tensor x = uniform({5, 7}, -1, 1);
  check_negated(negated(api, x), x);
  is_short = false;
  CHECK(straight == 4);
}

TEST_CASE("tensors that would take too much of such memory go straight, the others do not") {
  const GpuInterface api = watched();
  const std::vector<size_t> sizes{0, size_t{65} << 20, 100};
  gpu::Edges edges({&api, 0}, sizes);
  REQUIRE(pinned.size() == 1);
  CHECK(pinned.begin()->second < 1000);
  gpu::WorkQueue queue({&api, 0});
  const std::vector<std::byte> from(100, std::byte{7});
  std::vector<std::byte> device(100), to(100);
  edges.bring(2, device.data(), from.data(), queue);
  edges.begin_fetch(2, to.data(), device.data(), queue);
  edges.finish(2, to.data());
  CHECK(to == from);
  CHECK(straight == 0);
}

}  // namespace mlopt::test
