#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/exec/node_step.h"

namespace mlopt {

/// A graph lowered to steps over numbered slots; a nested body is a program of its own, kept by its step.
class Program {
 public:
  Program(const Graph& graph, ProgramContext& context);

  /// `inputs`: one for each graph input without data; `captured`: one for each of captured(). Gives the graph's
  /// outputs.
  std::vector<Datum> run(std::span<const Datum> inputs, std::span<const Datum* const> captured,
                         const RunContext& context) const;

  /// Values of enclosing graphs that the caller must hand to run(), in order.
  const std::vector<Value*>& captured() const { return captured_; }

 private:
  /// Where a value lives: a slot of the frame (>= 0), a resident (< -1: index -2 - ref), or nowhere (-1).
  using Ref = int;
  static constexpr Ref kNone = -1;

  struct Compiled {
    NodeStep step;
    std::vector<Ref> inputs, outputs;
    std::vector<Ref> dead;  ///< slots whose last reader this step is
    std::vector<std::vector<Ref>> captured;
  };

  /// Of the step that runs; their memory is used again by the next.
  struct StepArgs {
    std::vector<const Datum*> inputs;
    std::vector<Datum> outputs;
  };

  void place_values(const Graph& graph);
  void compile_node(const Node& node, ProgramContext& context);
  void find_last_uses();
  void run_step(const Compiled& step, std::vector<Datum>& frame, StepArgs& args, const RunContext& context) const;
  const Datum* at(Ref ref, const std::vector<Datum>& frame) const;
  Ref ref(const Value* value) const;

  bool is_body_;
  std::unordered_map<const Value*, Ref> refs_;
  /// Aligned by the first run: beside a plan, a program often never runs.
  mutable std::vector<Datum> residents_;
  mutable std::once_flag aligned_;
  std::vector<std::string> slot_names_;
  std::vector<bool> tapped_;
  std::vector<Ref> inputs_, outputs_;
  std::vector<Value*> captured_;
  std::vector<Ref> capture_slots_;
  std::vector<Compiled> steps_;
};

}  // namespace mlopt
