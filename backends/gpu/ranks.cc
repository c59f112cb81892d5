#include "backends/gpu/ranks.h"

#include <fmt/core.h>

#include <chrono>
#include <optional>

#include "backends/gpu/operand.h"
#include "backends/gpu/state_memory.h"
#include "core/train/cost_model.h"

namespace mlopt {
namespace gpu {

void RankQueue::add_up(std::span<const RingPart> parts) {
  check(queue_.api().add_up(ring_, &queue_.get(), parts.data(), static_cast<int64_t>(parts.size())),
        "adding up over the GPUs");
}

void RankQueue::count(int64_t bytes) {
  moved_.payload += bytes;
  moved_.wire += train::all_reduce_bytes(ranks_, bytes);
}

void RankSums::begin(std::span<const RingPart> parts, WorkQueue& behind) {
  ranks_->queue().follow(behind);
  ranks_->add_up(parts);
}

void RankSums::end(WorkQueue& queue) { queue.follow(ranks_->queue()); }

}  // namespace gpu

namespace {

using train::Communicator;

class GpuCommunicator : public Communicator {
 public:
  GpuCommunicator(std::shared_ptr<Communicator> ranks, gpu::Device device, gpu::Ring* ring)
      : ranks_(std::move(ranks)),
        device_(device),
        version_(device.api->ring_version()),
        queue_(std::make_shared<gpu::RankQueue>(device, ranks_->size(), ring)) {}

  std::string name() const override {
    return fmt::format("NCCL {}.{}.{}, {}", version_ / 10000, version_ / 100 % 100, version_ % 100, ranks_->name());
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
    before_ = traffic();
    state_.reset();
    queue_.reset();
    ranks_->close();
  }
  train::Traffic traffic() const override {
    if (!queue_) return before_;
    train::Traffic all = ranks_->traffic();
    const train::Traffic& moved = queue_->moved();
    all.payload += moved.payload;
    all.wire += moved.wire;
    all.wait_s += moved.wait_s;
    return all;
  }

  bool adds_up_state() const override { return true; }
  void add_up_state(StateStore& store, std::span<const std::string> names) override {
    const auto start = std::chrono::steady_clock::now();
    gpu::DeviceState& state = state_of(store);
    std::vector<gpu::RingPart> parts;
    int64_t bytes = 0;
    for (const std::string& name : names) {
      const Tensor& value = store.on_host(name);
      state.bring(name, queue_->queue());
      parts.push_back({*gpu::float_of(value.dtype()), state.at(name), value.size()});
      bytes += static_cast<int64_t>(value.bytes());
    }
    queue_->count(bytes);
    queue_->add_up(parts);
    queue_->queue().wait();
    for (const std::string& name : names) state.note_change(name);
    queue_->note_wait(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::shared_ptr<StateSums> state_sums(std::vector<std::string> names, int64_t bucket_bytes) override {
    return std::make_shared<gpu::RankSums>(queue_, std::move(names), bucket_bytes);
  }

 private:
  /// Of the store, which is mostly the one of the call before.
  gpu::DeviceState& state_of(StateStore& store) {
    if (!state_ || store_ != &store) state_.emplace(std::shared_ptr<StateStore>(&store, [](auto*) {}), device_);
    store_ = &store;
    return *state_;
  }

  std::shared_ptr<Communicator> ranks_;
  gpu::Device device_;
  int version_;
  std::shared_ptr<gpu::RankQueue> queue_;  ///< null: closed
  std::optional<gpu::DeviceState> state_;
  StateStore* store_ = nullptr;
  train::Traffic before_;  ///< it was closed
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
