// Where values lie: the copies in other layouts and types that steps read.
#include <fmt/core.h>

#include "core/exec/plan_builder.h"
#include "core/exec/run_alone.h"
#include "core/exec/weight_cache.h"

namespace mlopt {

int PlanBuilder::add_reorder(int from, TensorDesc to, const KernelList& list) {
  PlannedStep step = list.reorder(*slot(from).desc, to, context_->kernel);
  if (slot(from).home == Plan::Home::kConstant) {
    Tensor copy(to.dtype, to.dims);
    const std::byte* const in[] = {p_.constants.at(from).raw()};
    std::byte* const out[] = {copy.mutable_raw()};
    run_alone(step, in, out);
    const int made = new_slot(Plan::Home::kConstant, std::move(to));
    p_.constants.emplace(made, std::move(copy));
    return made;
  }
  if (step.label.empty()) step.label = list.backend;
  const int made = new_slot(Plan::Home::kArena, std::move(to));
  slot(made).value = slot(from).value;
  Plan::Planned planned{std::move(step), nullptr, {from}, {made}, 0};
  planned.profile_row = add_row(planned);
  p_.steps.emplace_back(std::move(planned));
  return made;
}

DType PlanBuilder::type_of(const Value* value) const {
  const auto& desc = p_.slots[static_cast<size_t>(slots_.at(value))].desc;
  const bool narrowed =
      first_list().reorder && desc && desc->dtype == DType::kBF16 && value->type.dtype != DType::kBF16;
  return narrowed ? DType::kF32 : desc ? desc->dtype : value->type.dtype;
}

namespace {

/// The tensor where kernels can read it: a copy, where a file has it at an odd place, which all plans share.
Tensor aligned_once(const Tensor& tensor, WeightCache* cache) {
  if (!tensor.is_view()) return tensor;
  struct Copied {
    Tensor from, made;
  };
  const auto copied = shared_weights<Copied>(cache, tensor, fmt::format("aligned {}", name(tensor.dtype())), [&] {
    auto made = std::make_shared<Copied>(Copied{tensor, tensor.aligned()});
    if (made->made.raw() != tensor.raw()) tensor.release_pages();
    return made;
  });
  if (copied->made.raw() == tensor.raw()) return tensor;
  return Tensor::view(tensor.dtype(), tensor.dims(), copied->made.raw_bytes(), copied);
}

}  // namespace

int PlanBuilder::slot_of(const Value* value, Layout layout, const KernelList& list) {
  return slot_of(value, layout, type_of(value), list);
}

int PlanBuilder::slot_of(const Value* value, Layout layout, DType type, const KernelList& list) {
  const int k = slots_.at(value);
  if (slot(k).home == Plan::Home::kConstant && !p_.constants.contains(k))
    p_.constants.emplace(k, aligned_once(*value->constant, context_->kernel.weights));
  if (!slot(k).desc) return k;
  const TensorDesc& lies = *slot(k).desc;
  if (lies.dtype == type && (lies.layout == layout || lies.is_any_layout())) return k;
  const auto [known, is_new] = copies_.try_emplace({k, layout, type});
  if (is_new) known->second = add_reorder(k, {type, lies.dims, layout}, list);
  return known->second;
}

}  // namespace mlopt
