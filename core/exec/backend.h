#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/plan_info.h"
#include "core/exec/state.h"
#include "core/ir/model.h"
#include "core/tensor/datum.h"

namespace mlopt {

/// How a plan computes float32 operators. Anything but kF32 is asked for by the user, never chosen silently.
enum class Precision { kF32, kBF16, kF16, kTF32 };

/// Replaces each value by its mean over all processes of a parallel run, which all call it.
using MeanOverRanks = std::function<void(std::span<double> values)>;

/// What the runs of a plan move to memory of the host and back on their way (mlopt.ToHost, mlopt.FromHost).
struct HostTraffic {
  int64_t bytes = 0;   ///< of one run, both ways
  double seconds = 0;  ///< that this took in the first run
};

class WeightCache;

/// What is fixed when a plan is compiled.
struct CompileOptions {
  int threads = 0;  ///< of the plan; 0: what the cgroup and affinity allow
  Precision precision = Precision::kF32;
  std::shared_ptr<StateStore> state;  ///< graph inputs of these names come from here, not from the caller; null: none
  std::vector<StateUpdate> updates;   ///< of `state`, by outputs of the graph
  std::vector<std::string> taps;      ///< values handed to the observer when they are computed, then freed
  /// A tapped value may come sample by sample, in several calls, and its elements in any order: enough for what is only
  /// counted, and faster, because the graph runs as it does without taps.
  bool taps_unordered = false;
  bool profile = false;  ///< keep times of each step
  /// Free dimensions of one name have one size: what rewrote the graph took them for that. Exporters reuse names for
  /// what differs, so that others let the operators judge.
  bool one_size_per_name = false;
  uint64_t seed = 0;                   ///< of random operators without a seed of their own
  MeanOverRanks mean_over_ranks = {};  ///< BatchNormalization in training takes statistics of all; empty: its own
  std::shared_ptr<HostTraffic> host_traffic = {};  ///< is told; null: nobody
  std::shared_ptr<WeightCache> weights =
      {};  ///< packed ones, shared with executables of the same constants; null: its own
};

/// Time of one step, summed over runs.
struct StepProfile : StepInfo {
  double seconds = 0;
  int64_t calls = 0;
};

/// Called while a plan runs. Any of them may be empty.
struct RunHooks {
  std::function<void(std::string_view name, const Datum& value)> on_tap;  ///< for each value in CompileOptions::taps
  std::function<void(std::string_view name, const Datum& value)>
      on_ready;                          ///< for each output as soon as it is computed
  std::shared_ptr<StateSums> sums = {};  ///< adds values of the state up while the run goes on
};

/// A compiled plan. run() may be called from several threads at once unless the plan has state.
class Executable {
 public:
  virtual ~Executable() = default;

  /// `inputs` in the order of input_names(), outputs in that of output_names(). Throws Error{kBadInput} for inputs of
  /// the wrong type or shape.
  virtual std::vector<Datum> run(std::span<const Datum> inputs, const RunHooks& hooks = {}) = 0;

  virtual const std::vector<std::string>& input_names() const = 0;   ///< neither initializers nor state
  virtual const std::vector<std::string>& output_names() const = 0;  ///< without what updates the state
  /// Nodes that another backend's kernels run ("Conv 'stem'").
  virtual const std::vector<std::string>& fallback_nodes() const = 0;
  virtual std::vector<StepProfile> profile() const = 0;
  /// What runs for inputs of these types and shapes; nothing where the graph runs node by node.
  virtual std::optional<PlanInfo> plan_info(std::span<const Datum>) { return std::nullopt; }
};

/// A way to run graphs. Throws Error{kUnsupported} from compile, naming every node it has no kernel for.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// The executable keeps what it needs of the model; the model may be destroyed.
  virtual std::unique_ptr<Executable> compile(const Model& model, const CompileOptions& options) = 0;
};

}  // namespace mlopt
