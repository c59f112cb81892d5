#pragma once
#include <memory>
#include <span>

#include "backends/gpu/device_memory.h"
#include "core/train/communicator.h"

namespace mlopt {

namespace gpu {

/// The GPUs of all ranks, and the queue on which they add up. It lives as long as any plan has sums of it captured: the
/// library waits for these before it lets go.
class RankQueue {
 public:
  RankQueue(Device device, int ranks, Ring* ring) : queue_(device), ranks_(ranks), ring_(ring) {}
  ~RankQueue() { queue_.api().leave(ring_); }
  RankQueue(const RankQueue&) = delete;
  RankQueue& operator=(const RankQueue&) = delete;

  WorkQueue& queue() { return queue_; }
  void add_up(std::span<const RingPart> parts);
  /// Counts so many bytes as added up once.
  void count(int64_t bytes);
  const train::Traffic& moved() const { return moved_; }
  void note_wait(double seconds) { moved_.wait_s += seconds; }

 private:
  WorkQueue queue_;
  int ranks_;
  Ring* ring_;
  train::Traffic moved_;
};

/// Adds up gradients while the backward pass goes on: a plan says when some are complete.
class RankSums : public StateSums {
 public:
  RankSums(std::shared_ptr<RankQueue> ranks, std::vector<std::string> names, int64_t bucket_bytes)
      : StateSums(std::move(names), bucket_bytes), ranks_(std::move(ranks)) {}

  /// What is in `behind` by now has completed the parts, which it touches no more before end().
  void begin(std::span<const RingPart> parts, WorkQueue& behind);
  /// What is put in the queue from now on sees the sums.
  void end(WorkQueue& queue);
  /// A run has added up so many bytes.
  void note(int64_t bytes) {
    ranks_->count(bytes);
    done = true;
  }

 private:
  std::shared_ptr<RankQueue> ranks_;
};

}  // namespace gpu

/// `ranks`, whose states the device of this number holds: NCCL adds up values of a state, all else is done as before.
/// `ranks` itself where NCCL is missing on one of them, or refuses (two ranks have one GPU). All ranks call it.
std::shared_ptr<train::Communicator> gpu_communicator(std::shared_ptr<train::Communicator> ranks,
                                                      const GpuInterface& api, int device);

}  // namespace mlopt
