#include "core/exec/plan_builder.h"

#include <algorithm>

#include "core/exec/inferred.h"
#include "core/exec/layouts.h"
#include "core/exec/plan_step.h"
#include "core/exec/step_info.h"

namespace mlopt {
namespace {

LayoutRule rule_of(const Node& node, const KernelList& list) {
  for (const Kernel& kernel : list.kernels)
    if (kernel.plan && kernel.op == node.op && kernel.domain == node.domain) return kernel.layout;
  return LayoutRule::kRowMajor;
}

Bf16Rule bf16_rule_of(const Node& node, const KernelList& list) {
  for (const Kernel& kernel : list.kernels)
    if (kernel.plan && kernel.bf16 && kernel.op == node.op && kernel.domain == node.domain) return kernel.bf16(node);
  return {};
}

}  // namespace

PlanBuilder::PlanBuilder(Model model, ProgramContext& context) : context_(&context) { p_.model = std::move(model); }

int PlanBuilder::new_slot(Plan::Home home, std::optional<TensorDesc> desc) {
  p_.slots.push_back({home, std::move(desc)});
  return static_cast<int>(p_.slots.size()) - 1;
}

void PlanBuilder::note_constant(Value& value, Tensor tensor) {
  if (!value.constant) {
    value.type = Type::tensor(tensor.dtype(), tensor.dims());
    value.constant = std::move(tensor);
  }
  const int k = slots_.at(&value);
  slot(k).home = Plan::Home::kConstant;
  if (value.constant->dtype() != DType::kString)
    slot(k).desc = TensorDesc{value.constant->dtype(), value.constant->dims()};
}

void PlanBuilder::add_values() {
  const Graph& graph = *p_.model.graph;
  for (Value* v : graph.values()) {
    slot(slots_[v] = new_slot(Plan::Home::kNowhere, std::nullopt)).value = v;
    if (v->opaque && (!v->uses.empty() || v->is_output()))
      context_->unsupported.push_back("the sparse initializer '" + v->name + "'");
    if (v->constant) {
      note_constant(*v, {});
    } else if (auto value = v->producer ? known_or_empty(*v) : std::nullopt) {
      note_constant(*v, std::move(*value));
    }
  }
  for (const Value* v : graph.inputs()) {
    if (v->constant) continue;
    const int k = slots_.at(v);
    slot(k).home = Plan::Home::kInput;
    slot(k).desc = inferred(*v);
    p_.inputs.push_back(k);
  }
}

void PlanBuilder::find_needed() {
  needed_.clear();
  std::unordered_set<const Value*> wanted(p_.model.graph->outputs().begin(), p_.model.graph->outputs().end());
  const std::vector<Node*> nodes = p_.model.graph->nodes();
  for (size_t k = nodes.size(); k-- > 0;) {
    const Node& node = *nodes[k];
    const bool used = std::any_of(node.outputs().begin(), node.outputs().end(),
                                  [&](const Value* v) { return v && !v->constant && wanted.contains(v); });
    if (!used) continue;
    needed_.insert(&node);
    wanted.insert(node.inputs().begin(), node.inputs().end());
    for (const Graph* body : node.bodies())
      for (const Value* v : captures(*body)) wanted.insert(v);
  }
}

void PlanBuilder::find_layouts() {
  if (!first_list().reorder) return;
  channels_last_ = channels_last_values(*p_.model.graph, [&](const Node& n) { return rule_of(n, first_list()); });
}

void PlanBuilder::find_halves() {
  if (!first_list().reorder || context_->kernel.precision != Precision::kBF16) return;
  halves_ = bf16_values(*p_.model.graph, [&](const Node& n) { return bf16_rule_of(n, first_list()); });
}

Layout PlanBuilder::layout_of(const Value* value) const {
  return channels_last_.contains(value) ? Layout::kChannelsLast : Layout::kRowMajor;
}

std::optional<Site> PlanBuilder::site_of(const Node& node, LayoutRule rule, const Bf16Rule& halves) const {
  Site site{NodeView(node, p_.model.opset(node.domain)), {}, Layout::kRowMajor, context_->kernel};
  const Value* y = node.output(0);
  if (rule != LayoutRule::kRowMajor && y) site.layout = layout_of(y);
  site.halves = halves.writes && halves_.kept.contains(y);
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* v = node.inputs()[i];
    if (!v) {
      site.in.emplace_back();
      continue;
    }
    const Plan::Slot& s = p_.slots[static_cast<size_t>(slots_.at(v))];
    // Empty constants stand for parameters that are not given, such as Resize's scales.
    if (!s.desc || (s.desc->size() == 0 && (i == 0 || !v->constant))) return std::nullopt;
    TensorDesc desc = *s.desc;
    if (multiplies(halves, i) && halves_.copied.contains(v)) desc.dtype = DType::kBF16;
    if (!multiplies(halves, i) && !passes(halves, i)) desc.dtype = type_of(v);
    if (rule != LayoutRule::kAny) desc.layout = Layout::kRowMajor;
    const bool like_output = y && y->type.dims && y->type.dims->size() == desc.dims.size();
    if (rule == LayoutRule::kChannelsLast && i == 0)
      desc.layout = layout_of(v);
    else if ((rule == LayoutRule::kFollows || (rule == LayoutRule::kChannelsLast && !v->constant)) && like_output)
      desc.layout = site.layout;
    site.in.emplace_back(std::move(desc));
  }
  return site;
}

bool PlanBuilder::lower_by(const Kernel& kernel, LayoutRule rule, const Node& node, const KernelList& list) {
  if (kernel.bf16 && context_->kernel.precision == Precision::kBF16 &&
      lower_by(kernel, rule, kernel.bf16(node), node, list))
    return true;
  return lower_by(kernel, rule, {}, node, list);
}

bool PlanBuilder::lower_by(const Kernel& kernel, LayoutRule rule, const Bf16Rule& halves, const Node& node,
                           const KernelList& list) {
  const auto site = site_of(node, rule, halves);
  why_unplanned_ = "what it reads has no elements, or no shape before it runs";
  if (!site) return false;
  Expected<PlannedStep> step = plan_step(kernel.plan, *site);
  why_unplanned_ = step ? "not all of its outputs" : step.error().reason;
  if (!step) return false;
  if (step->out.size() < node.outputs().size()) return false;
  if (step->label.empty()) step->label = label_of(kernel, list);
  add_planned(std::move(*step), node, *site, list);
  return true;
}

bool PlanBuilder::lower_planned(const Node& node) {
  why_unplanned_.clear();
  if (!node.bodies().empty()) return false;
  for (const KernelList& list : context_->lists)
    for (const Kernel& kernel : list.kernels)
      if (kernel.plan && kernel.op == node.op && kernel.domain == node.domain &&
          ((list.reorder && kernel.layout != LayoutRule::kRowMajor && lower_by(kernel, kernel.layout, node, list)) ||
           lower_by(kernel, LayoutRule::kRowMajor, node, list))) {
        if (&list != &first_list()) context_->fallback.push_back(node.label());
        return true;
      }
  return false;
}

void PlanBuilder::add_planned(PlannedStep step, const Node& node, const Site& site, const KernelList& list) {
  Plan::Planned planned{std::move(step), &node, {}, {}, 0};
  const PlannedStep& s = planned.step;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const bool read = std::find(s.packed.begin(), s.packed.end(), static_cast<int>(i)) == s.packed.end();
    if (!site.in[i] || !read) {
      planned.in.push_back(-1);
      continue;
    }
    planned.in.push_back(
        slot_of(node.inputs()[i], s.in.empty() ? site.in[i]->layout : s.in[i], site.in[i]->dtype, list));
  }
  for (size_t i = 0; i < s.out.size(); ++i) {  // kernels write also what a node leaves out at its end
    const Value* v = node.output(static_cast<int>(i));
    const bool made = v && !v->constant;
    planned.out.push_back(made ? slots_.at(v) : new_slot(Plan::Home::kArena, s.out[i]));
    if (!made) continue;
    slot(slots_.at(v)).home = Plan::Home::kArena;
    slot(slots_.at(v)).desc = s.out[i];
  }
  if (s.view_of >= 0) {
    auto offset = static_cast<size_t>(s.view_offset);
    for (const int k : planned.out) {
      slot(k).home = Plan::Home::kView;
      slot(k).root = planned.in[static_cast<size_t>(s.view_of)];
      slot(k).offset = offset;
      offset += slot(k).desc->bytes();
    }
    return;
  }
  planned.profile_row = add_row(planned);
  p_.steps.emplace_back(std::move(planned));
}

size_t PlanBuilder::add_row(const Plan::Planned& planned) {
  if (context_->options->profile) context_->steps.push_back({step_info(planned, p_.model), 0, 0});
  return context_->steps.size() - 1;
}

void PlanBuilder::lower_general(const Node& node) {
  Plan::General general{NodeStep(node, *context_), {}, {}, {}, {}, why_unplanned_};
  const auto row_major = [&](const Value* v) { return v ? slot_of(v, Layout::kRowMajor, first_list()) : -1; };
  for (const Value* v : node.inputs()) general.in.push_back(row_major(v));
  for (const std::vector<Value*>& values : general.step.captured()) {
    std::vector<int>& slots = general.captured.emplace_back();
    for (const Value* v : values) slots.push_back(row_major(v));
  }
  for (const Value* v : node.outputs()) {
    general.out.push_back(v ? slots_.at(v) : -1);
    if (!v) continue;
    slot(slots_.at(v)).home = Plan::Home::kDatum;
    slot(slots_.at(v)).desc = inferred(*v);
  }
  p_.steps.emplace_back(std::move(general));
}

Plan::Parts PlanBuilder::build() {
  add_values();
  find_needed();
  fold_constants();
  find_needed();
  find_layouts();
  find_halves();
  for (const Node* node : p_.model.graph->nodes()) {
    const bool known =
        std::all_of(node->outputs().begin(), node->outputs().end(), [](const Value* v) { return !v || v->constant; });
    if (!known && needed_.contains(node) && !lower_planned(*node)) lower_general(*node);
  }
  const auto& outputs = p_.model.graph->outputs();  // those that the model does not have are there to be tapped
  for (const Value* v : std::span(outputs).first(context_->model->graph->outputs().size())) {
    const int k = slot_of(v, Layout::kRowMajor, first_list());
    p_.announced.push_back({k, v->name});
    if (const StateUpdate* update = find_update(context_->options->updates, v->name)) {
      p_.updates.push_back({k, slots_.at(p_.model.graph->find(update->state))});
      continue;
    }
    if (slot(k).home == Plan::Home::kArena) slot(k).home = Plan::Home::kOutput;
    p_.outputs.push_back(k);
  }
  for (const std::string& name : context_->options->taps) {
    const Value* v = p_.model.graph->find(name);
    const Value* given = context_->model->graph->find(name);
    if (!v || !given || given->constant) continue;
    p_.tapped.push_back({v->constant ? slot_of(v, Layout::kRowMajor, first_list()) : slots_.at(v), name});
  }
  plan_memory(p_);
  return std::move(p_);
}

Plan::Parts plan_model(Model model, ProgramContext& context) { return PlanBuilder(std::move(model), context).build(); }

}  // namespace mlopt
