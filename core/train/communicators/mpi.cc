#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <unordered_map>

#include "core/base/error.h"
#include "core/exec/plugin.h"
#include "core/tensor/halves.h"
#include "core/train/communicator.h"
#include "core/train/communicators/mpi_interface.h"
#include "core/train/cost_model.h"

namespace mlopt::train {
namespace {

using Clock = std::chrono::steady_clock;

void check(const char* failure) {
  if (failure) unsupported_error(fmt::format("MPI failed: {}", failure));
}

/// What MPI adds up halves by: it knows no such type.
template <class T>
void add_halves(const void* values, void* into, size_t count) {
  constexpr size_t kAtOnce = 1024;
  float a[kAtOnce], b[kAtOnce];
  for (size_t at = 0; at < count; at += kAtOnce) {
    const auto part = static_cast<int64_t>(std::min(kAtOnce, count - at));
    widen(static_cast<const T*>(values) + at, a, part);
    widen(static_cast<T*>(into) + at, b, part);
    for (int64_t i = 0; i < part; ++i) b[i] += a[i];
    narrow(b, static_cast<T*>(into) + at, part);
  }
}

MpiInterface::Type type_of(DType type) {
  if (type == DType::kF16) return MpiInterface::kF16;
  if (type == DType::kBF16) return MpiInterface::kBF16;
  if (type == DType::kF64) return MpiInterface::kF64;
  if (type != DType::kF32) internal_error("no reduction of this type", std::string(name(type)));
  return MpiInterface::kF32;
}

/// A wait gives the processor to others that are ready, and where it gets longer than the transfer of its bytes should
/// take, sleeps: there may be more ranks than processors. The library moves bytes only while it is asked, a few at a
/// time, so sleep at once would slow it down.
class Patience {
 public:
  explicit Patience(size_t bytes) : awake_(std::chrono::microseconds(1000 + bytes / kBytesPerUs)) {}
  void rest() {
    if (Clock::now() - begin_ < awake_)
      ::sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  static constexpr size_t kBytesPerUs = 200;  // a network's least

  Clock::time_point begin_ = Clock::now();
  std::chrono::microseconds awake_;
};

class Mpi : public Communicator {
 public:
  explicit Mpi(const MpiInterface& mpi) : mpi_(mpi) {
    check(mpi_.open(add_halves<Half>, add_halves<BFloat16>, &world_));
  }

  std::string name() const override { return world_.library; }
  int rank() const override { return world_.rank; }
  int size() const override { return world_.size; }

  Request begin_all_reduce(std::span<std::byte> values, DType type) override {
    void* request = nullptr;
    const auto count = static_cast<int64_t>(values.size() * 8) / bits(type);
    check(mpi_.begin_all_reduce(values.data(), count, type_of(type), &request));
    return note(request, values.size(), all_reduce_bytes);
  }
  Request begin_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    void* request = nullptr;
    check(mpi_.begin_all_gather(mine.data(), static_cast<int64_t>(mine.size()), all.data(), &request));
    return note(request, mine.size(), all_gather_bytes);
  }
  Request begin_broadcast(std::span<std::byte> bytes) override {
    void* request = nullptr;
    check(mpi_.begin_broadcast(bytes.data(), static_cast<int64_t>(bytes.size()), &request));
    return note(request, bytes.size(), broadcast_bytes);
  }

  void poll() override {
    for (auto next = pending_.begin(); next != pending_.end();) {
      bool done = false;
      check(mpi_.test(next->second.request, &done));
      next = done ? pending_.erase(next) : std::next(next);
    }
  }
  void wait(Request request) override {
    const auto found = pending_.find(request);
    Patience patience(found == pending_.end() ? 0 : found->second.bytes);
    for (poll(); pending_.contains(request); poll()) {
      if (stop_ && stop_()) throw Interrupted();
      patience.rest();
    }
    traffic_.wait_s += patience.seconds();
  }
  void set_stop(std::function<bool()> stop) override { stop_ = std::move(stop); }

  void close() override {
    if (closed_) return;
    gather(*this, {});  // no rank leaves before all have come
    check(mpi_.close());
    closed_ = true;
  }
  Traffic traffic() const override { return traffic_; }

 private:
  struct Pending {
    void* request;
    size_t bytes;
  };

  Request note(void* request, size_t bytes, int64_t (*cost)(int, int64_t)) {
    traffic_.payload += static_cast<int64_t>(bytes);
    traffic_.wire += cost(world_.size, static_cast<int64_t>(bytes));
    pending_.emplace(++last_, Pending{request, bytes});
    return last_;
  }

  const MpiInterface& mpi_;
  MpiInterface::World world_ = {};
  std::unordered_map<Request, Pending> pending_;
  Request last_ = 0;
  std::function<bool()> stop_;
  Traffic traffic_;
  bool closed_ = false;
};

const MpiInterface& load(std::string_view build_id) {
  const Plugin& plugin = load_plugin("mpi", build_id);
  if (!plugin.mpi) unsupported_error("the plugin has no communicator", "libmlopt_mpi.so");
  return *plugin.mpi;
}

const MpiInterface& load_for(const Launch& launch, std::string_view build_id) {
  try {
    return load(build_id);
  } catch (const Error& e) {
    throw Error(e.code,
                fmt::format("{} processes were started as one run, but they cannot talk to each other: {}", launch.size,
                            e.message),
                e.where,
                "install Open MPI (Debian: libopenmpi-dev openmpi-bin) and build again, or start one process; each by "
                "itself would overwrite what the others write");
  }
}

}  // namespace

void require_mpi(std::string_view build_id) { load(build_id); }

std::unique_ptr<Communicator> mpi_communicator(const Launch& launch, std::string_view build_id) {
  auto ranks = std::make_unique<Mpi>(load_for(launch, build_id));
  if (ranks->size() != launch.size)
    unsupported_error(
        fmt::format("the launcher started {} processes, {} sees {}", launch.size, ranks->name(), ranks->size()), {},
        "start them with the mpirun of that library; under Slurm with srun --mpi=pmix");
  return ranks;
}

}  // namespace mlopt::train
