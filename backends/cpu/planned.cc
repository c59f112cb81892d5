#include "backends/cpu/planned.h"

#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "backends/cpu/dnn.h"
#include "backends/cpu/primitive.h"
#include "core/base/error.h"

namespace mlopt::cpu {
namespace {

/// Signatures that one step remembers; the oldest is forgotten first.
constexpr size_t kRemembered = 64;

using Signature = std::vector<int64_t>;

Signature signature_of(const Call& call) {
  Signature s{omp_get_max_threads()};
  s.reserve(32);
  for (int i = 0; i < call.input_count(); ++i) {
    if (!call.has(i)) {
      s.push_back(-1);
      continue;
    }
    const Tensor& t = call.in(i);
    s.push_back(static_cast<int64_t>(t.dtype()));
    s.push_back(t.rank());
    s.insert(s.end(), t.dims().begin(), t.dims().end());
  }
  return s;
}

bool any_empty(const Call& call) {
  for (int i = 0; i < call.input_count(); ++i)
    if (call.has(i) && (!call.datum(i).is_tensor() || call.datum(i).tensor().size() == 0)) return true;
  return false;
}

[[noreturn]] void translate(const dnnl::error& e, const Node& node) {
  if (e.status == dnnl_out_of_memory)
    unsupported_error("out of memory", node.label(), "use a smaller batch or a machine with more memory");
  internal_error(fmt::format("oneDNN could not run the step: {}", e.message ? e.message : "no reason given"),
                 node.label());
}

class Planned {
 public:
  Planned(const NodeView& view, const CompileContext& context, Planner planner)
      : node_(&view.node()), planner_(std::move(planner)), next_(view, context) {}

  void run(Call& call) {
    if (any_empty(call)) return next_.run(call, "an input is empty");
    try {
      const std::shared_ptr<const Plan> plan = plan_for(call);
      if (plan->step) return plan->step(call);
      next_.run(call, plan->reason);
    } catch (const dnnl::error& e) {
      translate(e, *node_);
    }
  }

 private:
  struct Plan {
    Signature signature;
    Step step;           ///< empty: the next kernel's
    std::string reason;  ///< why there is no step
  };

  std::shared_ptr<const Plan> plan_for(const Call& call) {
    Signature signature = signature_of(call);
    const std::lock_guard lock(mutex_);
    const auto known =
        std::find_if(plans_.begin(), plans_.end(), [&](const auto& p) { return p->signature == signature; });
    if (known != plans_.end()) return *known;
    auto plan = std::make_shared<Plan>(Plan{std::move(signature), {}, {}});
    make(*plan, call);
    if (plans_.size() == kRemembered) plans_.erase(plans_.begin());
    return plans_.emplace_back(std::move(plan));
  }

  void make(Plan& plan, const Call& call) const {
    try {
      Expected<Step> step = planner_(call);
      if (step)
        plan.step = std::move(*step);
      else
        plan.reason = step.error().reason;
    } catch (const dnnl::error& e) {
      plan.reason = declined(e, *node_).reason;
    }
  }

  const Node* node_;
  Planner planner_;
  Next next_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const Plan>> plans_;
};

}  // namespace

Next::Next(const NodeView& view, const CompileContext& context)
    : node_(&view.node()), step_(context.next ? context.next() : Decline{"no other backend is asked"}) {}

void Next::run(Call& call, std::string_view reason) const {
  if (!step_) unsupported_error(fmt::format("no kernel for these inputs: {}", reason), node_->label());
  (*step_)(call);
}

Step planned(const NodeView& view, const CompileContext& context, Planner planner) {
  auto state = std::make_shared<Planned>(view, context, std::move(planner));
  return [state](Call& call) { state->run(call); };
}

std::optional<Decline> wrong_type(const NodeView& view, int i, std::initializer_list<DType> accepted) {
  const Value* value = view.node().input(i);
  if (!value || !value->type.is_tensor() || value->type.dtype == DType::kUndefined) return std::nullopt;
  if (std::find(accepted.begin(), accepted.end(), value->type.dtype) != accepted.end()) return std::nullopt;
  return Decline{fmt::format("input {} is {}", i, name(value->type.dtype))};
}

const Tensor* packable(const NodeView& view, int i, const CompileContext& context) {
  return context.weights_mutable ? nullptr : view.constant(i);
}

}  // namespace mlopt::cpu
