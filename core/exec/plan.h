#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/exec/kept.h"
#include "core/exec/node_step.h"

namespace mlopt {

/// Thrown by Plan::run where a value turns out to have another shape than inference gave it.
struct ShapeSurprise {};

/// Thrown by Plan::run before it has done anything, where there is too little memory for its values.
struct NoRoom : Error {
  using Error::Error;
};

/// A main graph lowered for inputs of known types and shapes: every value whose shape follows from them has its place
/// in one arena, and kernels run on memory alone. What cannot be planned runs node by node between the planned steps.
/// A device with memory of its own runs the same parts in its own way.
class Plan {
 public:
  /// Where a value lies while the plan runs.
  enum class Home {
    kNowhere,
    kConstant,
    kInput,   ///< the caller's
    kArena,   ///< at `offset`
    kOutput,  ///< a tensor of its own that the caller gets
    kDatum,   ///< whatever the step before made
    kView,    ///< in the bytes of slot `root`, `offset` bytes behind its start
  };
  struct Slot {
    Home home = Home::kNowhere;
    std::optional<TensorDesc> desc = {};  ///< nothing: known only at run time
    size_t offset = 0;
    int root = -1;
    const Value* value = nullptr;  ///< null: an output that nobody reads
  };
  /// A node that a kernel planned, or a copy to another layout.
  struct Planned {
    PlannedStep step;
    const Node* node;          ///< null: a copy
    std::vector<int> in, out;  ///< slots, -1: omitted
    size_t profile_row;
  };
  /// A node that runs on whatever its inputs are.
  struct General {
    NodeStep step;
    std::vector<int> in, out;
    std::vector<std::vector<int>> captured;
    std::vector<int> dead{};      ///< slots of Home::kDatum that nothing reads afterwards
    std::string why_unplanned{};  ///< by the kernel that was asked last; empty: none plans the operator
  };
  /// A value that a run leaves in the memory of an input.
  struct Update {
    int from, to;           ///< slots
    bool in_place = false;  ///< it is made there; else copied when all has run
  };
  using AnyStep = std::variant<Planned, General>;
  /// An output of the graph, be it for the caller or for the state.
  struct Output {
    int slot;
    std::string name;
    int step = -1;  ///< that completes it; -1: none does, it is an input or a constant
  };

  /// What a plan is made of; see plan_model().
  struct Parts {
    Model model;
    std::vector<Slot> slots;
    std::vector<AnyStep> steps;
    std::vector<int> inputs, outputs;  ///< slots; the outputs without those that update the state
    std::vector<Update> updates;
    std::vector<Output> announced;        ///< to RunHooks::on_ready, in the order of their steps
    std::vector<Output> tapped;           ///< to RunHooks::on_tap, likewise, in the layout that they have
    std::map<int, Tensor> constants;      ///< by slot
    std::vector<std::vector<int>> views;  ///< of each slot: slots of Home::kView in it
    std::vector<int> releases;            ///< slots whose data ends with the run
    size_t arena_bytes = 0, scratch_bytes = 0;
  };
  explicit Plan(Parts parts);
  virtual ~Plan();

  /// As Executable::run(); the inputs have the types and shapes that the plan was made for. Several threads may run it
  /// at once. Throws ShapeSurprise.
  virtual std::vector<Datum> run(std::span<const Datum> inputs, const RunContext& context) const;

  const Parts& parts() const { return p_; }
  PlanInfo info() const;

 private:
  struct Frame;

  std::unique_ptr<Frame> new_frame() const;
  void start(Frame& frame, std::span<const Datum> inputs) const;
  void place_views(Frame& frame, int root) const;
  void set(Frame& frame, int slot, Datum datum) const;
  void run_planned(const Planned& step, size_t index, Frame& frame, const RunContext& context) const;
  void run_general(const General& step, Frame& frame, const RunContext& context) const;
  void copy_update(const Update& update, const Frame& frame) const;
  void run_steps(Frame& frame, const RunContext& context) const;
  /// Hands in what is complete after the step; those before `next` were.
  void tap(std::vector<Output>::const_iterator& next, int step, const Frame& frame, const RunContext& context) const;
  Datum datum_of(int slot, const Frame& frame) const;
  /// The output for the caller, whose memory no later run writes to before the caller lets go of it.
  Datum handed_out(size_t output, Frame& frame) const;

  Parts p_;
  mutable Kept<Frame> frames_;
};

/// Plans a model whose input shapes are bound and inferred (bind_input_shapes()). Rows of the profile, fallbacks and
/// what cannot be run are noted in the context, whose `model` is set.
Plan::Parts plan_model(Model model, ProgramContext& context);

}  // namespace mlopt
