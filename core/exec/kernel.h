#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/expected.h"
#include "core/exec/backend.h"
#include "core/ir/view.h"
#include "core/tensor/datum.h"

namespace mlopt {

/// Runs a nested body of the step's node: body index as in Node::bodies(), the body's inputs; gives the body's outputs.
using BodyRunner = std::function<std::vector<Datum>(int body, std::span<const Datum> inputs)>;

/// One execution of one step: its inputs, and where its outputs go.
class Call {
 public:
  Call(const NodeView& view, std::span<const Datum* const> inputs, std::span<Datum> outputs, const BodyRunner& bodies,
       uint64_t seed)
      : view(view), seed(seed), inputs_(inputs), outputs_(outputs), bodies_(&bodies) {}

  const NodeView& view;  ///< attributes
  uint64_t seed;         ///< of this step in this run, for random operators

  int input_count() const { return static_cast<int>(inputs_.size()); }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  /// Input i is given and not an empty optional.
  bool has(int i) const {
    return i < input_count() && inputs_[static_cast<size_t>(i)] && !inputs_[static_cast<size_t>(i)]->is_none();
  }
  /// Input i, which must be a tensor; throws Error{kBadInput} naming the node otherwise. Bytes are aligned.
  const Tensor& in(int i) const;
  const Datum& datum(int i) const;

  /// Output i is asked for by the graph.
  bool wants(int i) const { return i < output_count(); }
  /// Stores output i (ignored when it is not wanted).
  void set(int i, Datum value);
  /// A new tensor in output i.
  Tensor& make(int i, DType type, Dims dims);

  /// Integers from the attribute (old opsets) or from input i (newer ones), else `otherwise`.
  std::vector<int64_t> ints(std::string_view attr, int i, std::vector<int64_t> otherwise = {}) const;
  std::vector<Datum> run_body(int body, std::span<const Datum> inputs) const { return (*bodies_)(body, inputs); }

 private:
  std::span<const Datum* const> inputs_;
  std::span<Datum> outputs_;
  const BodyRunner* bodies_;
};

/// What runs a step. May own packed weights and primitives; called from several threads at once.
using Step = std::function<void(Call&)>;

/// What a kernel sees when it is compiled.
struct CompileContext {
  int threads = 1;
  Precision precision = Precision::kF32;
  bool weights_mutable = false;
  /// What would run the node if this kernel declined, for shapes that a step meets only when it runs. Callable while
  /// compile() runs.
  std::function<Expected<Step>()> next = {};
};

/// One way to run an operator. A backend is an ordered list of these, fastest first; the first that does not decline
/// wins.
struct Kernel {
  std::string_view domain;  ///< "" for ai.onnx
  std::string_view op;
  void (*run)(Call&) = nullptr;  ///< a kernel without state
  /// A kernel with state (used when `run` is null); shapes may be unknown until it runs.
  Expected<Step> (*compile)(const NodeView&, const CompileContext&) = nullptr;
  std::string_view label = {};  ///< shown by --profile; the operator's name when empty
};

/// An ordered list of kernels and whose they are.
struct KernelList {
  std::string_view backend;
  std::span<const Kernel> kernels;
};

}  // namespace mlopt
