#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/state.h"
#include "core/tensor/dtype.h"
#include "core/train/launch.h"

namespace mlopt::train {

/// Thrown by a wait when this process has been told to end: the other ranks may be gone.
struct Interrupted {};

/// What one rank has moved so far.
struct Traffic {
  int64_t payload = 0;  ///< bytes that were handed over to be reduced, gathered or broadcast
  int64_t wire = 0;     ///< bytes that a rank sends for these, see cost_model.h
  double wait_s = 0;    ///< spent in wait()
};

/// The processes ("ranks") of a parallel run. All of them begin the same operations in the same order; several may be
/// under way. One thread at a time uses it. Throws Error{kUnsupported} where the library fails.
class Communicator {
 public:
  using Request = int64_t;

  virtual ~Communicator() = default;
  /// "Open MPI 4.1.4".
  virtual std::string name() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Begins to add up `values` (elements of kF32, kF64, kF16 or kBF16) over all ranks; every rank gets the same sums,
  /// to the bit. The bytes must stay where they are until the operation has been waited for; so for the others.
  virtual Request begin_all_reduce(std::span<std::byte> values, DType type) = 0;
  /// Begins to put `mine`, of the same size on each rank, one after the other into `all`, in the order of the ranks.
  virtual Request begin_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  /// Begins to copy rank 0's bytes to all.
  virtual Request begin_broadcast(std::span<std::byte> bytes) = 0;
  /// Lets what is under way move on, where that takes calls.
  virtual void poll() = 0;
  /// Throws Interrupted once `stop` of set_stop() says so.
  virtual void wait(Request request) = 0;
  virtual void set_stop(std::function<bool()> stop) = 0;

  /// Whether values of a state are added up where a device keeps them, by add_up_state(), which all ranks call at once.
  virtual bool adds_up_state() const { return false; }
  virtual void add_up_state(StateStore& state, std::span<const std::string> names);
  /// What does so while the run that makes these values goes on; null: nothing does. All ranks hand it to the same
  /// runs.
  virtual std::shared_ptr<StateSums> state_sums(std::vector<std::string> names, int64_t bucket_bytes);

  /// Ends the parallel run for this process, when all ranks do so: only rank 0 may have more to do. Nothing is begun
  /// after it; a second call does nothing. Without it, the end of a process ends the other ranks too.
  virtual void close() = 0;
  virtual Traffic traffic() const = 0;
};

/// One process.
std::unique_ptr<Communicator> single_communicator();
/// By the plugin libmlopt_mpi.so, which must be of the build `build_id`. Throws Error{kUnsupported} when it or the MPI
/// library is missing, or the library does not see the processes that the launcher has started.
std::unique_ptr<Communicator> mpi_communicator(const Launch& launch, std::string_view build_id);

/// Throws Error{kUnsupported} where mpi_communicator() would for want of the plugin or the library.
void require_mpi(std::string_view build_id);

/// Adds up over all ranks.
void all_reduce(Communicator& ranks, std::span<float> values);
/// What each rank gives, of any size, in the order of the ranks.
std::vector<std::string> gather(Communicator& ranks, std::string_view mine);

}  // namespace mlopt::train
