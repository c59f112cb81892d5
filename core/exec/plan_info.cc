#include "core/exec/plan_info.h"

#include <set>
#include <unordered_map>

#include "core/exec/step_info.h"

namespace mlopt {
namespace {

class Describer {
 public:
  explicit Describer(const Plan::Parts& parts) : p_(parts) {}

  PlanInfo describe() {
    PlanInfo info{.arena_bytes = p_.arena_bytes, .scratch_bytes = p_.scratch_bytes};
    for (const auto& [slot, tensor] : p_.constants) info.constant_bytes += tensor.bytes();
    std::unordered_map<const Node*, size_t> steps;
    for (size_t k = 0; k < p_.steps.size(); ++k)
      if (const Node* node = node_of(p_.steps[k])) steps[node] = k;
    size_t next = 0;  // copies stand before the node that reads them, and at the end
    for (const Node* node : p_.model.graph->nodes()) {
      const auto own = steps.find(node);
      if (own != steps.end())
        while (next <= own->second) add(p_.steps[next++], info);
      else if (is_view(*node))
        info.steps.push_back(view_of(*node));
      else
        ++info.folded_nodes;
    }
    while (next < p_.steps.size()) add(p_.steps[next++], info);
    return info;
  }

 private:
  using Home = Plan::Home;
  const Plan::Slot& slot(int k) const { return p_.slots[static_cast<size_t>(k)]; }

  static const Node* node_of(const Plan::AnyStep& step) {
    const auto* planned = std::get_if<Plan::Planned>(&step);
    return planned ? planned->node : &std::get<Plan::General>(step).step.view().node();
  }

  int slot_of(const Value* value) {
    if (by_value_.empty())
      for (size_t k = p_.slots.size(); k-- > 0;) by_value_[p_.slots[k].value] = static_cast<int>(k);
    return by_value_.at(value);
  }

  bool is_view(const Node& node) {
    const Value* y = node.first_output();
    return y && slot(slot_of(y)).home == Home::kView;
  }

  static PlaceInfo::Home named(Home home) {
    switch (home) {
      case Home::kArena:
        return PlaceInfo::Home::kArena;
      case Home::kInput:
        return PlaceInfo::Home::kInput;
      case Home::kOutput:
        return PlaceInfo::Home::kOutput;
      case Home::kConstant:
        return PlaceInfo::Home::kConstant;
      default:
        return PlaceInfo::Home::kOutside;
    }
  }

  PlaceInfo place_of(int k) const {
    const Plan::Slot& s = slot(k);
    const Plan::Slot& root = s.home == Home::kView ? slot(s.root) : s;
    PlaceInfo place{s.value ? s.value->name : "", s.desc, named(root.home)};
    if (root.home == Home::kArena) place.offset = root.offset;
    if (&root == &s) return place;
    place.offset += s.offset;
    if (root.value) place.of = root.value->name;
    return place;
  }

  void add(const Plan::AnyStep& any, PlanInfo& info) {
    if (const auto* planned = std::get_if<Plan::Planned>(&any)) {
      add_planned(*planned, info);
      return;
    }
    const auto& general = std::get<Plan::General>(any);
    PlanStepInfo step{step_info(general.step.view(), general.step.kernel()), false};
    for (const int k : general.out)
      if (k >= 0) step.out.push_back(place_of(k));
    info.steps.push_back(std::move(step));
  }

  void add_planned(const Plan::Planned& planned, PlanInfo& info) {
    const PlannedStep& s = planned.step;
    PlanStepInfo step{step_info(planned, p_.model)};
    step.scratch_bytes = s.scratch_bytes;
    step.packed_bytes = s.packed_bytes;
    const Value* weights = s.packed.empty() || !planned.node ? nullptr : planned.node->input(s.packed[0]);
    if (weights && packed_.insert(weights).second) info.packed_bytes += s.packed_bytes;
    for (const int k : planned.out)
      if (k >= 0 && slot(k).value) step.out.push_back(place_of(k));
    step.in_place = s.in_place >= 0 && lies_in(planned.out[0], planned.in[static_cast<size_t>(s.in_place)]);
    info.steps.push_back(std::move(step));
  }

  /// Do both begin at the same byte?
  bool lies_in(int out, int in) const {
    const auto start = [&](int k) {
      const bool view = slot(k).home == Home::kView;
      return std::pair(view ? slot(k).root : k, view ? slot(k).offset : 0);
    };
    return in >= 0 && start(out) == start(in);
  }

  PlanStepInfo view_of(const Node& node) {
    PlanStepInfo step{step_info(NodeView(node, p_.model.opset(node.domain)), "view"), true, true};
    step.macs = step.bytes = 0;
    for (const Value* v : node.outputs())
      if (v) step.out.push_back(place_of(slot_of(v)));
    if (!step.out.empty() && step.out[0].desc) step.layout = layout_name(*step.out[0].desc);
    return step;
  }

  const Plan::Parts& p_;
  std::unordered_map<const Value*, int> by_value_;
  std::set<const Value*> packed_;  ///< weights that were counted
};

}  // namespace

PlanInfo Plan::info() const { return Describer(p_).describe(); }

}  // namespace mlopt
