#pragma once
#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/exec/kernel.h"
#include "core/ir/infer.h"

namespace mlopt {

class Program;

/// What the programs of one executable share while they are compiled.
struct ProgramContext {
  const Model* model;
  const CompileOptions* options;
  std::span<const KernelList> lists;
  CompileContext kernel;
  std::vector<std::string> fallback;     ///< nodes run by any list but the first
  std::vector<std::string> unsupported;  ///< nodes that no list runs, with the reasons
  std::vector<StepProfile> steps;        ///< one for each step of all programs, where a profile is kept
  TypeRule types = nullptr;              ///< for infer()
  bool plan_at_once = true;              ///< false: the programs may never run, so their kernels plan when they do
};

/// What the programs of one executable share while they run.
struct RunContext {
  const RunHooks* hooks;
  uint64_t seed;
  std::vector<StepProfile>* profile;  ///< null: keep no times
  std::mutex* profile_mutex;
};

/// A node compiled for whatever its inputs turn out to be when it runs.
class NodeStep {
 public:
  /// Notes in the context what cannot be run, and a row of its profile.
  NodeStep(const Node& node, ProgramContext& context);
  NodeStep(NodeStep&&) noexcept;
  ~NodeStep();

  /// Values of enclosing graphs that the node's bodies read, body by body, in order.
  const std::vector<std::vector<Value*>>& captured() const { return captured_; }
  const NodeView& view() const { return view_; }
  std::string_view kernel() const { return kernel_; }

  /// Fills `outputs`. `captured` gives a value of captured() at run time, and may be empty where there are none. Errors
  /// of the kernel gain the node.
  void run(std::span<const Datum* const> inputs, std::span<Datum> outputs,
           const std::function<const Datum*(int body, int index)>& captured, const RunContext& context) const;

 private:
  NodeView view_;
  std::string_view kernel_;
  Step step_;
  std::vector<std::unique_ptr<Program>> bodies_;
  std::vector<std::vector<Value*>> captured_;
  size_t profile_row_;
  uint64_t salt_;  ///< of the seed, so that nodes differ, however the graph is planned
};

/// An error of a kernel, which is being handled, gains the node it happened in.
[[noreturn]] void rethrow_with_node(const Node& node);

/// Adds the time since its construction to a row of the profile, where one is kept.
class StepTimer {
 public:
  StepTimer(const RunContext& context, size_t row);
  ~StepTimer();
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;

 private:
  const RunContext* context_;
  size_t row_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace mlopt
