// ScatterND at the places where a condition holds, of another value's elements there, or of one number -> Where: how
// PyTorch's exporters write y[mask] = z[mask], which needs to find the places first.
#include <algorithm>

#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// The condition whose true places the indices [places, axes] list; null for other indices.
Value* mask_of(const Value* indices, const Builder& builder) {
  const Node* turn = producer_of(indices, "Transpose");
  const Node* places = turn ? producer_of(turn->input(0), "NonZero") : nullptr;
  if (!places || permutation_of(builder.view(*turn), 2) != std::vector<int64_t>{1, 0}) return nullptr;
  Value* mask = places->input(0);
  // NonZero gives a scalar the index 0 of one axis.
  return mask->type.dtype == DType::kBool && mask->type.dims && !mask->type.dims->empty() ? mask : nullptr;
}

/// What is written, as a value of x's shape or one number; null where it is something else.
Value* written(const Value* updates, const Value* indices, const Value* x, const Builder& builder) {
  const Node* expand = producer_of(updates, "Expand");
  // There are as many updates as places: what was gathered there is not repeated.
  const Node* gather = producer_of(expand ? expand->input(0) : updates, "GatherND");
  if (gather && gather->input(1) == indices && builder.view(*gather).get_int("batch_dims", 0) == 0)
    return gather->input(0)->type.dims == x->type.dims ? gather->input(0) : nullptr;
  const auto dims = expand ? expand->input(0)->type.static_dims() : std::nullopt;
  return dims && dims->size() <= 1 && element_count(*dims) == 1 ? expand->input(0) : nullptr;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& scatter = *m.root;
  Value *x = scatter.input(0), *indices = scatter.input(1);
  Value* mask = mask_of(indices, builder);
  if (!mask) return Decline{};
  if (builder.view(scatter).get_string("reduction", "none") != "none") return Decline{"it adds, or takes the largest"};
  const auto &dims = x->type.dims, &masked = mask->type.dims;
  if (!dims || masked->size() > dims->size() || !std::equal(masked->begin(), masked->end(), dims->begin()))
    return Decline{"the condition is not known to be as large"};
  Value* other = written(scatter.input(2), indices, x, builder);
  if (!other) return Decline{"what it writes is not taken from such places"};
  if (masked->size() < dims->size()) {
    if (builder.opset() < 13) return Decline{"Unsqueeze takes its axes from opset 13 on"};
    std::vector<int64_t> axes;
    SymDims wide = *masked;
    for (; wide.size() < dims->size(); wide.emplace_back(1)) axes.push_back(std::ssize(wide));
    Value* behind = builder.constant(mask->name + "_axes", Tensor::ints(axes));
    mask = builder.op("Unsqueeze", {mask, behind}, {}, Type::tensor(DType::kBool, wide));
  }
  return Replacement{builder.op("Where", {mask, other, x}, {}, x->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("ScatterND", {}).open(), rewrite}}; }

}  // namespace

const Pass masked_scatter_to_where = {"masked_scatter_to_where",
                                      "choose by a condition instead of scattering to where it holds", rules};

}  // namespace mlopt::graphopt
