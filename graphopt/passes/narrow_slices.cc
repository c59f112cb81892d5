// Slice along axes of which it takes some whole -> Slice along the others: what TensorFlow writes for x[..., ::2].
#include <numeric>

#include "core/ir/slice_span.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

using Ints = std::vector<int64_t>;

/// Are all elements of an axis of this length taken, in order?
bool takes_all(const Dim& length, int64_t start, int64_t end, int64_t step) {
  const auto n = length.value();
  return step == 1 && start == 0 && (end >= kBeyondSizes || (n && end >= *n));
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const NodeView view = builder.view(*m.root);
  const auto& dims = m.value("x")->type.dims;
  if (view.opset() < 10) return Decline{"its limits are attributes before opset 10"};
  if (!dims) return Decline{"its shape is not known"};
  const auto starts = view.ints("starts", 1), ends = view.ints("ends", 2);
  if (!starts || !ends || starts->size() != ends->size()) return Decline{"its limits are not constant"};
  Ints places(starts->size());
  std::iota(places.begin(), places.end(), 0);
  const auto axes = view.ints("axes", 3, places), steps = view.ints("steps", 4, Ints(places.size(), 1));
  if (!axes || !steps || axes->size() != places.size() || steps->size() != places.size())
    return Decline{"its axes or steps are not constant"};
  Ints kept[4];
  for (size_t i = 0; i < places.size(); ++i) {
    const int64_t axis = (*axes)[i] + ((*axes)[i] < 0 ? std::ssize(*dims) : 0);
    if (axis < 0 || axis >= std::ssize(*dims)) return Decline{"it has no such axis"};
    if (takes_all((*dims)[static_cast<size_t>(axis)], (*starts)[i], (*ends)[i], (*steps)[i])) continue;
    const int64_t numbers[] = {(*starts)[i], (*ends)[i], (*axes)[i], (*steps)[i]};
    for (size_t k = 0; k < 4; ++k) kept[k].push_back(numbers[k]);
  }
  if (kept[0].empty() || kept[0].size() == places.size()) return Decline{};
  std::vector<Value*> inputs{m.value("x")};
  constexpr const char* kNames[] = {"starts", "ends", "axes", "steps"};
  for (size_t k = 0; k < 4; ++k) inputs.push_back(builder.constant(kNames[k], Tensor::ints(kept[k])));
  return Replacement{builder.op("Slice", std::move(inputs), {}, m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Slice", {Pattern::any("x")}).open(), rewrite}}; }

}  // namespace

const Pass narrow_slices = {"narrow_slices", "slice no axes that are taken whole", rules};

}  // namespace mlopt::graphopt
