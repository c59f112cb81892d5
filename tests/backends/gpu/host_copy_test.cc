#include <algorithm>
#include <functional>
#include <set>

#include "backends/gpu/backend.h"
#include "backends/gpu/interface.h"
#include "backends/reference/kernels.h"
#include "core/onnx/infer.h"
#include "core/train/offload.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

/// Copies of queues that follow others wait until these follow them: memory that was another's too early is then seen.
struct Late {
  std::set<gpu::Queue*> beside;
  std::vector<std::function<void()>> waiting;
  int most = 0;  ///< copies that waited at once
};
Late late;

gpu::Status follow(gpu::Queue* queue, gpu::Queue* other) {
  if (!late.beside.contains(other)) {
    late.beside.insert(queue);
    return nullptr;
  }
  late.most = std::max(late.most, static_cast<int>(late.waiting.size()));
  for (const auto& copy : late.waiting) copy();
  late.waiting.clear();
  return nullptr;
}

gpu::Status transfer(gpu::Queue* queue, void* to, const void* from, size_t bytes) {
  if (!late.beside.contains(queue)) return gpu::gpu_interface().transfer(queue, to, from, bytes);
  late.waiting.emplace_back([=] { gpu::gpu_interface().transfer(queue, to, from, bytes); });
  return nullptr;
}

const GpuInterface& with_late_copies() {
  static const GpuInterface made = [] {
    GpuInterface api = gpu::gpu_interface();
    api.follow = follow;
    api.transfer = transfer;
    return api;
  }();
  return made;
}

/// Five sines of one another, eight cosines of the last up to "middle", and then products with what follows from each
/// sine, from the last to the first, as a backward pass has them.
Model there_and_back() {
  Net net;
  std::vector<Value*> made = {net.input({16, 16})};
  for (int i = 0; i < 5; ++i) made.push_back(net.op("Sin", {made.back()}));
  Value* middle = made.back();
  for (int i = 0; i < 8; ++i) middle = net.op("Cos", {middle});
  net.graph().rename(middle, "middle");
  Value* y = middle;
  for (size_t i = made.size() - 1; i > 0; --i) y = net.op("Cos", {net.op("Mul", {y, net.op("Exp", {made[i]})})});
  net.output(y);
  infer(net.model, standard_types);
  return std::move(net.model);
}

}  // namespace

TEST_CASE("what goes to the host and comes back beside other work is not overwritten meanwhile") {
  const Model model = there_and_back();
  const std::vector<Datum> x = {uniform({16, 16}, -1, 1)};
  const Tensor expected = gpu_on_host()->compile(model, {})->run(x)[0].tensor();
  Model aside = clone(model);
  const train::Offloaded done = train::offload_activations(aside, "middle", 1);
  CHECK(done.values >= 5);

  late = {};
  const auto backend = gpu_backend(with_late_copies(), 0, {reference::all_kernels(), false, standard_types});
  const auto plan = backend->compile(aside, {});
  for (int i = 0; i < 3; ++i) require_close(plan->run(x)[0].tensor(), expected, 0);
  CHECK(late.beside.size() == 1);
  CHECK(late.most == 1);
  CHECK(late.waiting.empty());
  require_close(gpu_on_host()->compile(aside, {})->run(x)[0].tensor(), expected, 0);
}

}  // namespace mlopt::test
