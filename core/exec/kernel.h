#pragma once
#include <any>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.h"
#include "core/exec/backend.h"
#include "core/exec/desc.h"
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

class WeightCache;

/// What a kernel sees when it is compiled.
struct CompileContext {
  int threads = 1;
  Precision precision = Precision::kF32;
  /// What would run the node if this kernel declined, for shapes that a step meets only when it runs. Callable while
  /// compile() runs.
  std::function<Expected<Step>()> next = {};
  WeightCache* weights = nullptr;      ///< what the plans of one executable share; null: nothing
  MeanOverRanks mean_over_ranks = {};  ///< CompileOptions::mean_over_ranks
  std::shared_ptr<HostTraffic> host_traffic = {};
};

/// Thrown where a kernel needs an input that the node does not give: the kernel declines.
struct MissingInput {
  int index;
};

/// A node whose inputs' types and shapes are known: what a kernel plans for.
struct Site {
  NodeView view;
  std::vector<std::optional<TensorDesc>> in;  ///< one for each input; nothing: omitted
  Layout layout = Layout::kRowMajor;          ///< in which output 0 is wanted; any other may be made
  const CompileContext& context;
  bool halves =
      false;  ///< output 0, of float32, is wanted in bfloat16 (for kernels with a Bf16Rule); either may be made

  bool has(int i) const { return i < static_cast<int>(in.size()) && in[static_cast<size_t>(i)]; }
  /// Throws MissingInput where the input is not given.
  const TensorDesc& desc(int i) const {
    if (!has(i)) throw MissingInput{i};
    return *in[static_cast<size_t>(i)];
  }
  /// The constant in input i, which may be prepared ahead; null when there is none.
  const Tensor* constant(int i) const { return view.constant(i); }
};

/// The memory that a planned step runs on, inputs and outputs as the node has them.
class Buffers {
 public:
  Buffers(std::byte* const* where, std::span<const int> in, std::span<const int> out, std::byte* scratch,
          std::any& memo)
      : scratch(scratch), memo(memo), where_(where), in_(in), out_(out) {}

  std::byte* scratch;  ///< PlannedStep::scratch_bytes, 64-byte aligned
  std::any& memo;      ///< the step's own between runs on these buffers; nothing else runs on them meanwhile

  template <class T>
  const T* in(int i) const {
    return reinterpret_cast<const T*>(where_[in_[static_cast<size_t>(i)]]);
  }
  template <class T>
  T* out(int i) const {
    return reinterpret_cast<T*>(where_[out_[static_cast<size_t>(i)]]);
  }

 private:
  std::byte* const* where_;
  std::span<const int> in_, out_;
};

/// A node planned for the shapes of one Site.
struct PlannedStep {
  std::vector<TensorDesc> out;                ///< one for each output, wanted or not
  std::function<void(const Buffers&)> run{};  ///< called from several threads at once, each with its own buffers
  size_t scratch_bytes = 0;
  int in_place = -1;                 ///< input whose memory output 0 may take where nothing else reads it
  std::vector<int> more_in_place{};  ///< the same for outputs 1, 2, ...
  int view_of = -1;                  ///< input in whose bytes the outputs lie, one after the other: nothing runs
  int64_t view_offset = 0;           ///< in bytes, of output 0 in that input
  std::vector<int> packed{};         ///< inputs that `run` does not read, such as weights in a form of its own
  std::string label{};               ///< how it is done, for --profile; empty: Kernel::label
  size_t packed_bytes = 0;           ///< of what `run` reads instead of them
  std::vector<Layout> in{};          ///< in which inputs are wanted that are not so given; empty: as given
  /// Byte offset in output 0 at which each input may lie already, -1: nowhere; empty: none may. `run` compares
  /// pointers.
  std::vector<int64_t> parts{};
};

/// Which layouts a kernel takes its tensors in.
enum class LayoutRule {
  kRowMajor,      ///< row-major only
  kFollows,       ///< any, if inputs and outputs of one rank share it
  kChannelsLast,  ///< fastest with input 0 and output 0 channels-last
  kAny,           ///< any, each tensor its own
};

/// How a kernel takes float32 values that a plan keeps in bfloat16 between steps (--precision bf16). Bit i stands for
/// input i; inputs without a bit are given in float32.
struct Bf16Rule {
  uint32_t multiplies = 0;  ///< operands that it rounds to bfloat16 anyway
  uint32_t passes = 0;      ///< inputs that it takes in bfloat16 where the output is
  bool writes = false;      ///< output 0 as Site::halves asks; false: its outputs have the type of what it passes on
};

/// One way to run an operator. A backend is an ordered list of these, fastest first; the first that does not decline
/// wins.
struct Kernel {
  std::string_view domain;  ///< "" for ai.onnx
  std::string_view op;
  void (*run)(Call&) = nullptr;  ///< a kernel without state
  /// A kernel with state (used when `run` is null); shapes may be unknown until it runs.
  Expected<Step> (*compile)(const NodeView&, const CompileContext&) = nullptr;
  std::string_view label = {};  ///< shown by --profile; the backend's name when empty
  /// Plans for known shapes. Where it declines, or is null, the node runs by `run` or `compile`.
  Expected<PlannedStep> (*plan)(const Site&) = nullptr;
  LayoutRule layout = LayoutRule::kRowMajor;  ///< of `plan`
  Bf16Rule (*bf16)(const Node&) = nullptr;    ///< of `plan`; null: float32 only
};

/// Plans a copy between layouts, and between bfloat16 and float32: input 0 and output 0 as described, of the same dims.
using PlanReorder = PlannedStep (*)(const TensorDesc& from, const TensorDesc& to, const CompileContext&);

/// An ordered list of kernels and whose they are.
struct KernelList {
  std::string_view backend;
  std::span<const Kernel> kernels;
  PlanReorder reorder = nullptr;  ///< null: all is row-major
};

}  // namespace mlopt
