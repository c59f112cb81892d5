#pragma once
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "core/exec/bf16_values.h"
#include "core/exec/plan.h"

namespace mlopt {

/// Lowers a graph to the parts of a Plan, node by node in schedule order.
class PlanBuilder {
 public:
  PlanBuilder(Model model, ProgramContext& context);
  Plan::Parts build();

 private:
  void add_values();
  void find_needed();
  void find_layouts();
  void find_halves();
  void note_constant(Value& value, Tensor tensor);
  bool fold(const Node& node);
  void fold_constants();
  bool lower_planned(const Node& node);
  bool lower_by(const Kernel& kernel, LayoutRule rule, const Node& node, const KernelList& list);
  bool lower_by(const Kernel& kernel, LayoutRule rule, const Bf16Rule& halves, const Node& node,
                const KernelList& list);
  void add_planned(PlannedStep step, const Node& node, const Site& site, const KernelList& list);
  void lower_general(const Node& node);
  /// `halves`: what is kept in bfloat16 is given so where the rule takes it.
  std::optional<Site> site_of(const Node& node, LayoutRule rule, const Bf16Rule& halves) const;
  Layout layout_of(const Value* value) const;
  /// As the graph has it, also where a step makes it in bfloat16.
  DType type_of(const Value* value) const;

  /// The slot of the value; as the kernels of other operators read it.
  int slot_of(const Value* value, Layout layout, const KernelList& list);
  /// The same in that layout and of that type, where it has a shape (a copy is added where it lies in another).
  int slot_of(const Value* value, Layout layout, DType type, const KernelList& list);
  int add_reorder(int from, TensorDesc to, const KernelList& list);
  /// Of the profile, where one is kept.
  size_t add_row(const Plan::Planned& planned);
  int new_slot(Plan::Home home, std::optional<TensorDesc> desc);
  Plan::Slot& slot(int k) { return p_.slots[static_cast<size_t>(k)]; }
  const KernelList& first_list() const { return context_->lists[0]; }

  Plan::Parts p_;
  ProgramContext* context_;
  std::unordered_map<const Value*, int> slots_;
  std::map<std::tuple<int, Layout, DType>, int> copies_;  ///< of slots, by how they lie
  std::unordered_set<const Value*> channels_last_;
  Bf16Values halves_;
  std::unordered_set<const Node*> needed_;
  std::string why_unplanned_;  ///< of the node that is lowered
};

/// Gives every slot its lifetime, lets steps work in place where they may, and places what is left in the arena.
void plan_memory(Plan::Parts& parts);

}  // namespace mlopt
