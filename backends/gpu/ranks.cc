#include "backends/gpu/ranks.h"

#include <fmt/core.h>

#include <chrono>
#include <optional>

#include "backends/gpu/operand.h"
#include "backends/gpu/state_memory.h"
#include "core/train/cost_model.h"

namespace mlopt {
namespace {

using train::Communicator;

class GpuCommunicator : public Communicator {
 public:
  GpuCommunicator(std::shared_ptr<Communicator> ranks, gpu::Device device, gpu::Ring* ring)
      : ranks_(std::move(ranks)), ring_(ring), queue_(device) {}
  ~GpuCommunicator() override { leave(); }

  std::string name() const override {
    const int version = queue_.api().ring_version();
    return fmt::format("NCCL {}.{}.{}, {}", version / 10000, version / 100 % 100, version % 100, ranks_->name());
  }
  int rank() const override { return ranks_->rank(); }
  int size() const override { return ranks_->size(); }
  Request begin_all_reduce(std::span<std::byte> values, DType type) override {
    return ranks_->begin_all_reduce(values, type);
  }
  Request begin_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    return ranks_->begin_all_gather(mine, all);
  }
  Request begin_broadcast(std::span<std::byte> bytes) override { return ranks_->begin_broadcast(bytes); }
  void poll() override { ranks_->poll(); }
  void wait(Request request) override { ranks_->wait(request); }
  void set_stop(std::function<bool()> stop) override { ranks_->set_stop(std::move(stop)); }
  void close() override {
    leave();
    ranks_->close();
  }
  train::Traffic traffic() const override {
    train::Traffic all = ranks_->traffic();
    all.payload += moved_.payload;
    all.wire += moved_.wire;
    all.wait_s += moved_.wait_s;
    return all;
  }

  bool adds_up_state() const override { return true; }
  void add_up_state(StateStore& store, std::span<const std::string> names) override {
    const auto start = std::chrono::steady_clock::now();
    gpu::DeviceState& state = state_of(store);
    std::vector<gpu::RingPart> parts;
    for (const std::string& name : names) {
      const Tensor& value = store.on_host(name);
      state.bring(name, queue_);
      parts.push_back({*gpu::float_of(value.dtype()), state.at(name), value.size()});
      moved_.payload += static_cast<int64_t>(value.bytes());
      moved_.wire += train::all_reduce_bytes(size(), static_cast<int64_t>(value.bytes()));
    }
    const auto count = static_cast<int64_t>(parts.size());
    gpu::check(queue_.api().add_up(ring_, &queue_.get(), parts.data(), count), "adding up over the GPUs");
    queue_.wait();
    for (const std::string& name : names) state.note_change(name);
    moved_.wait_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  void leave() {
    if (ring_) queue_.api().leave(ring_);
    ring_ = nullptr;
  }

  /// Of the store, which is mostly the one of the call before.
  gpu::DeviceState& state_of(StateStore& store) {
    if (!state_ || store_ != &store) state_.emplace(std::shared_ptr<StateStore>(&store, [](auto*) {}), queue_.device());
    store_ = &store;
    return *state_;
  }

  std::shared_ptr<Communicator> ranks_;
  gpu::Ring* ring_;
  gpu::WorkQueue queue_;
  std::optional<gpu::DeviceState> state_;
  StateStore* store_ = nullptr;
  train::Traffic moved_;
};

bool all_can(Communicator& ranks, bool mine) {
  float missing = mine ? 0 : 1;
  train::all_reduce(ranks, {&missing, 1});
  return missing == 0;
}

}  // namespace

std::shared_ptr<Communicator> gpu_communicator(std::shared_ptr<Communicator> ranks, const GpuInterface& api,
                                               int device) {
  if (ranks->size() == 1) return ranks;
  gpu::RingId id{};
  const bool begun = ranks->rank() == 0 ? !api.new_ring(&id) : api.ring_version() > 0;
  if (!all_can(*ranks, begun)) return ranks;
  ranks->wait(ranks->begin_broadcast(std::as_writable_bytes(std::span(id.bytes))));
  gpu::Ring* ring = nullptr;
  const bool joined = !api.join(device, ranks->rank(), ranks->size(), &id, &ring);
  if (all_can(*ranks, joined))
    return std::make_shared<GpuCommunicator>(std::move(ranks), gpu::Device{&api, device}, ring);
  if (joined) api.leave(ring);
  return ranks;
}

}  // namespace mlopt
