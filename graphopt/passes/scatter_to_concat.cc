// ScatterND and ScatterElements whose indices count, so that they fill a box of x -> Concat of what lies beside the box
// and what fills it: exporters of PyTorch write x[:, a:b] = y so. What several of them fill one after the other is one
// Concat, as a loop writes its steps.
#include <algorithm>

#include "core/rewrite/axis_map.h"
#include "core/tensor/dim_product.h"
#include "graphopt/passes.h"
#include "graphopt/passes/axis_order.h"
#include "graphopt/passes/scatter_box.h"
#include "graphopt/passes/slicing.h"

namespace mlopt::graphopt {
namespace {

/// The axes along which the box is not all of x.
Expected<std::vector<Cut>> cuts_of(const std::vector<Span>& box, const SymDims& x) {
  std::vector<Cut> cuts;
  for (size_t i = 0; i < box.size(); ++i) {
    const auto& [from, length] = box[i];
    if (from.is(0) && length == x[i]) continue;
    const auto all = x[i].value(), many = length.value();
    auto first = from.value();
    if (first && *first < 0) first = all ? std::optional(*first + *all) : std::nullopt;
    if (!first || *first < 0) return Decline{"where it begins is not known"};
    const bool to_end = Dim(*first) + length == x[i];
    if (!to_end && (!many || (all && *first + *many > *all))) return Decline{"how far it goes is not known"};
    cuts.push_back({i, *first, to_end ? std::nullopt : std::optional(*first + *many)});
  }
  return cuts;
}

/// Appends the values that a part of x is made of.
void take(Value* x, const Cut& cut, std::vector<Value*>& parts, Builder& builder) {
  for (const CutPiece& piece : cut_pieces(x, cut, builder)) parts.push_back(piece.make(builder));
}

Value* joined(std::vector<Value*> parts, size_t axis, const Type& type, Builder& builder) {
  if (parts.size() == 1) return parts[0];
  return builder.op("Concat", std::move(parts), {{"axis", static_cast<int64_t>(axis), ""}}, type);
}

/// x with the box that cuts[at] and those behind it make filled by what has its shape.
Value* filled(Value* x, const std::vector<Cut>& cuts, size_t at, Value* filling, Builder& builder) {
  if (at == cuts.size()) return filling;
  const Cut& cut = cuts[at];
  std::vector<Value*> parts;
  take(x, {cut.axis, 0, cut.from}, parts, builder);
  if (at + 1 < cuts.size()) {
    std::vector<Value*> box;
    take(x, cut, box, builder);
    filling = filled(joined(std::move(box), cut.axis, cut.type_of(*x), builder), cuts, at + 1, filling, builder);
  }
  parts.push_back(filling);
  if (cut.to) take(x, {cut.axis, *cut.to, std::nullopt}, parts, builder);
  return joined(std::move(parts), cut.axis, x->type, builder);
}

/// The same, as x lies before Transposes where what fills it is transposed as well, and transposed then, which cancels
/// what turns it back: PyTorch's newer exporter brings the axis of a slice to the front.
Value* filled_unturned(Value* x, std::vector<Cut> cuts, Value* filling, Builder& builder) {
  const auto [source, perm] = unturned(x, builder);
  if (std::is_sorted(perm.begin(), perm.end())) return filled(source, cuts, 0, filling, builder);
  if (!producer_of(filling, "Transpose")) return filled(x, cuts, 0, filling, builder);
  std::vector<int64_t> back(perm.size());
  Type type = filling->type;
  for (size_t i = 0; i < perm.size(); ++i) {
    back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
    (*type.dims)[static_cast<size_t>(perm[i])] = (*filling->type.dims)[i];
  }
  for (Cut& cut : cuts) cut.axis = static_cast<size_t>(perm[cut.axis]);
  std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.axis < b.axis; });
  filling = builder.op("Transpose", {filling}, {{"perm", back, ""}}, type);
  return builder.op("Transpose", {filled(source, cuts, 0, filling, builder)}, {{"perm", perm, ""}}, x->type);
}

/// Does a runtime better fill the box in place? Blocks of it, where indices of a fixed shape are constants to it, and
/// all of x would be copied for little, or piece by piece.
bool suits_scatter(const Node& scatter, const std::vector<Cut>& cuts, const SymDims& box) {
  constexpr int64_t kBlock = 16, kShare = 8;
  const Value *x = scatter.input(0), *indices = scatter.input(1);
  const auto fixed = indices->type.static_dims();
  const auto count = product(box).value(), all = product(*x->type.dims).value();
  if (!scatter.is("ScatterND") || !fixed || !count || !all || fixed->back() == 0) return false;
  const int64_t places = element_count(*fixed) / fixed->back();
  if (*count < kBlock * places) return false;
  if (cuts.size() > 1) return true;
  const Node* made = x->producer;
  for (const char* op : {"ConstantOfShape", "Expand", "Concat", "Transpose"})
    if (made && made->is(op)) return false;
  return *count * kShare < *all;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Node& scatter = *m.root;
  Value *x = scatter.input(0), *updates = scatter.input(2);
  const auto& dims = x->type.dims;
  if (builder.view(scatter).get_string("reduction", "none") != "none") return Decline{"it adds, or takes the largest"};
  if (!dims || !updates->type.dims) return Decline{"the shapes are not known"};
  const auto box = scatter_box(scatter, *dims, builder);
  if (!box) return box.error();
  const auto cuts = cuts_of(*box, *dims);
  if (!cuts) return cuts.error();
  constexpr size_t kMostAxes = 2;
  if (cuts->size() > kMostAxes) return Decline{"it is parted along many axes"};
  SymDims wanted = *dims;
  for (size_t i = 0; i < box->size(); ++i) wanted[i] = (*box)[i].length;
  if (suits_scatter(scatter, *cuts, wanted)) return Decline{"it is filled in place"};
  if (*updates->type.dims != wanted) {
    const auto target = reshape_target(updates->type.dims, wanted);
    if (!target) return Decline{"no constant can say what fills it"};
    updates = make_reshape(builder, updates, *target, Type::tensor(x->type.dtype, wanted));
  }
  return Replacement{filled_unturned(x, *cuts, updates, builder)};
}

std::vector<Rule> rules() { return {{Pattern::op("ScatterND|ScatterElements", {}).open(), rewrite}}; }

}  // namespace

const Pass scatter_to_concat = {"scatter_to_concat",
                                "join what lies beside a box and what fills it, instead of scattering", rules};

}  // namespace mlopt::graphopt
