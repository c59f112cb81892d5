#pragma once
#include <memory>
#include <set>
#include <string>

#include "backends/gpu/device_memory.h"
#include "backends/gpu/state_memory.h"
#include "backends/gpu/tuning.h"
#include "backends/gpu/weights.h"
#include "core/exec/plan.h"

namespace mlopt::gpu {

/// What runs the parts of a plan on a GPU: one arena of device memory for each run at a time, and from the second run
/// on one CUDA graph. Steps that no kernel here runs, where they are allowed, run on the host between copies.
class DevicePlan : public Plan {
 public:
  struct Options {
    bool host_steps = false;                  ///< allow steps on the host
    std::set<std::string> taps = {};          ///< CompileOptions::taps
    std::shared_ptr<Tuning> tuning = {};      ///< of the products; null: the library's own choice
    std::shared_ptr<DeviceState> state = {};  ///< inputs of these names; null: none
  };
  /// Throws Error{kUnsupported} naming all steps that would run on the host where that is not allowed.
  DevicePlan(Parts parts, Device device, std::shared_ptr<Weights> weights, Options options);
  ~DevicePlan() override;

  std::vector<Datum> run(std::span<const Datum> inputs, const RunContext& context) const override;

 private:
  struct Frame;

  void refuse_host_steps() const;
  void place();
  /// Does the input live on the device?
  bool is_state(int slot) const;
  /// Does a run have the value on the host, so that nothing is copied?
  bool is_on_host(int slot) const;
  std::vector<size_t> edge_sizes() const;
  std::unique_ptr<Frame> new_frame() const;
  void prepare_sums(Frame& frame, const std::shared_ptr<StateSums>& sums) const;
  void start(Frame& frame, std::span<const Datum> inputs, const RunContext& context) const;
  void run_steps(Frame& frame, const RunContext& context) const;
  void run_planned(const Planned& step, Frame& frame, const RunContext& context) const;
  void run_on_host(const General& step, Frame& frame, const RunContext& context) const;
  void copy_updates(Frame& frame) const;
  void capture_or_launch(Frame& frame, const RunContext& context) const;
  void check_faults(Frame& frame) const;
  void tap(int slot, Frame& frame, const RunContext& context) const;
  Datum fetch(int slot, Frame& frame) const;
  std::vector<Datum> fetch_outputs(Frame& frame) const;
  const Slot& slot(int k) const { return parts().slots[static_cast<size_t>(k)]; }

  Device device_;
  std::shared_ptr<Weights> weights_;
  Options options_;
  bool on_host_ = false;        ///< some steps are
  std::vector<size_t> places_;  ///< of slots with memory of their own, in a frame's
  size_t bytes_ = 0;            ///< of a frame
  mutable Kept<Frame> frames_;
};

}  // namespace mlopt::gpu
