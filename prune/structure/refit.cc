#include "prune/structure/refit.h"

#include <algorithm>
#include <cstring>

#include "core/calib/features.h"
#include "prune/fit.h"
#include "prune/stages.h"

namespace mlopt::prune {
namespace {

constexpr int64_t kStages = 24;
constexpr int64_t kProductBytes = int64_t{512} << 20;  // of inputs, held at once

/// Zeros at one position of an axis.
void clear(Tensor& tensor, int axis, int64_t position) {
  const auto n = static_cast<size_t>(tensor.dim(axis));
  const auto inner = static_cast<size_t>(row_major_strides(tensor.dims())[static_cast<size_t>(axis)]);
  const size_t width = inner * (tensor.bytes() / static_cast<size_t>(tensor.size()));
  const size_t outer = tensor.bytes() / (n * width);
  std::byte* to = tensor.mutable_raw() + static_cast<size_t>(position) * width;
  for (size_t o = 0; o < outer; ++o) std::memset(to + o * n * width, 0, width);
}

}  // namespace

void clear_channels(const Relations& all, const std::vector<Group>& groups, const Removed& removed) {
  for (size_t g = 0; g < groups.size(); ++g)
    for (const size_t c : removed[g])
      for (const auto& [number, position] : groups[g].channels[c]) {
        const Axis& axis = all.atoms.axes()[number];
        if (!axis.value->is_initializer() || axis.value->constant->rank() < 2 ||
            !is_float(axis.value->constant->dtype()))
          continue;
        Value* weight = axis.value->graph->find(axis.value->name);
        clear(*weight->constant, axis.axis, position);
      }
}

void refit(Model& model, const Model& original, const Means& means) {
  std::vector<Weight> weights = find_weights(model).weights;
  std::erase_if(weights, [](const Weight& w) { return !features_problem(w).empty(); });
  size_t first = 0;
  for (const size_t end : stage_ends(weights, kStages, kProductBytes)) {
    const auto stage = std::span(weights).subspan(first, end - first);
    const std::vector<Observed> seen =
        observe(model, stage, {.products = true, .original = &original}, means.looking());
    for (size_t i = first; i < end; ++i) {
      Weight before = weights[i];
      before.value = original.graph->find(weights[i].name());
      store(weights[i], fitted(weights[i], seen[i - first], load(before), load(weights[i])));
    }
    first = end;
  }
}

}  // namespace mlopt::prune
