// Queries, keys and values that a product with a constant matrix gives head by head, [..., heads, 3, size], and that
// are taken from there one by one (Bloom) -> the matrix with its columns in the order [3, heads, size], and a
// Transpose, which goes once one Split takes all three; or one Split of rows, where it took them from heads.
#include <algorithm>
#include <cstring>

#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"
#include "graphopt/passes/taken_rows.h"

namespace mlopt::graphopt {
namespace {

/// How the last axis is parted: [heads, parts, size].
struct Layout {
  int64_t heads = 0, parts = 0, size = 0;
  int64_t columns() const { return heads * parts * size; }
};

/// Nothing where the Reshape does something else.
std::optional<Layout> layout_of(const SymDims& from, const SymDims& to) {
  constexpr int64_t kMostParts = 8;
  if (from.empty() || to.size() != from.size() + 2 || !std::equal(from.begin(), from.end() - 1, to.begin()))
    return std::nullopt;
  const auto heads = to.end()[-3].value(), parts = to.end()[-2].value(), size = to.end()[-1].value();
  if (!heads || !parts || !size || *heads < 2 || *parts < 2 || *parts > kMostParts) return std::nullopt;
  const Layout layout{*heads, *parts, *size};
  return from.back().is(layout.columns()) ? std::optional(layout) : std::nullopt;
}

/// The same numbers with the last axis in the order [parts, heads, size].
Tensor sorted(const Tensor& t, const Layout& l) {
  Tensor made(t.dtype(), t.dims());
  const size_t piece = packed_bytes(t.dtype(), l.size);
  const std::byte* from = t.raw();
  std::byte* to = made.mutable_raw();
  for (int64_t row = 0; row < t.size() / l.columns(); ++row)
    for (int64_t part = 0; part < l.parts; ++part)
      for (int64_t head = 0; head < l.heads; ++head, to += piece)
        std::memcpy(to, from + static_cast<size_t>((row * l.heads + head) * l.parts + part) * piece, piece);
  return made;
}

bool is_constant_of(const Value* v, const Layout& l, int64_t rank) {
  const Tensor* t = v ? v->known_constant() : nullptr;
  return t && is_float(t->dtype()) && bits(t->dtype()) >= 8 && t->rank() == rank && t->dims().back() == l.columns() &&
         t->size() > 0;
}

/// The rows with their columns in the new order; null where they are not those of a matrix of their own.
Value* sorted_rows(Value* rows, const Layout& l, Builder& builder) {
  const Node* node = rows->single_use() ? rows->producer : nullptr;
  if (!node) return nullptr;
  if (node->is("Add")) {
    const int at = is_constant_of(node->input(1), l, 1) ? 1 : 0;
    if (!is_constant_of(node->input(at), l, 1)) return nullptr;
    Value* product = sorted_rows(node->input(1 - at), l, builder);
    if (!product) return nullptr;
    Value* bias = builder.successor(node->input(at), sorted(*node->input(at)->known_constant(), l));
    return builder.op("Add", at == 1 ? std::vector{product, bias} : std::vector{bias, product}, {}, rows->type);
  }
  Value* w = node->is("MatMul") ? node->input(1) : nullptr;
  if (!is_constant_of(w, l, 2) || !w->single_use()) return nullptr;
  return builder.op("MatMul", {node->input(0), builder.successor(w, sorted(*w->known_constant(), l))}, {}, rows->type);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value *x = m.root->input(0), *y = m.root->output(0);
  const auto layout = x->type.dims && y->type.dims ? layout_of(*x->type.dims, *y->type.dims) : std::nullopt;
  if (!layout || builder.opset() < 7 || y->is_output()) return Decline{};
  const auto taken = gathered(*y, builder.opset());
  if (!taken || taken->axis + 2 != y->type.dims->size()) return Decline{};
  SymDims dims = *y->type.dims;
  std::swap(dims.end()[-2], dims.end()[-3]);
  const auto target = reshape_target(x->type.dims, dims);
  if (!target) return Decline{"its shape is not known"};
  Value* rows = sorted_rows(x, *layout, builder);
  if (!rows) return Decline{"it is not of a constant matrix that nothing else reads"};
  Value* parted = make_reshape(builder, rows, *target, Type::tensor(y->type.dtype, dims));
  std::vector<int64_t> perm(dims.size());
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
  std::swap(perm.end()[-2], perm.end()[-3]);
  return Replacement{builder.op("Transpose", {parted}, {{"perm", perm, {}}}, y->type)};
}

/// How [..., heads * parts * size] was made heads [..., heads, parts * size], or with their rows behind them, that a
/// Split takes apart along their last axis.
struct Parted {
  Value* x = nullptr;
  Layout layout;
  bool turned = false;
};

std::optional<Parted> parted_by(const Node& split, const Builder& builder) {
  if (!split.output(0)) return std::nullopt;
  const Value* heads = split.input(0);
  const Node* node = heads->single_use() ? heads->producer : nullptr;
  const bool turned = node && node->is("Transpose");
  if (turned && builder.view(*node).get_ints("perm") != std::vector<int64_t>{0, 2, 1, 3}) return std::nullopt;
  if (turned) node = node->input(0)->single_use() ? node->input(0)->producer : nullptr;
  if (!node || !node->is("Reshape")) return std::nullopt;
  const auto &from = node->input(0)->type.dims, &to = node->output(0)->type.dims, &part = split.output(0)->type.dims;
  if (!from || !to || !part || from->size() != 3 || to->size() != 4) return std::nullopt;
  const auto count = (*to)[2].value(), size = part->back().value();
  if (!count || !size || *count < 2 || *size < 1) return std::nullopt;
  const Layout layout{*count, static_cast<int64_t>(split.outputs().size()), *size};
  SymDims joined(to->begin(), to->begin() + 2);
  joined.push_back(layout.columns());
  return *from == joined ? std::optional(Parted{node->input(0), layout, turned}) : std::nullopt;
}

/// The same for what one Split takes from all heads, as in GPT-NeoX: then of whole rows, each part with all heads.
Expected<Replacement> rewrite_split(const Match& m, Builder& builder) {
  const Node& split = *m.root;
  const int64_t axis = builder.view(split).get_int("axis", 0);
  const auto parted = split.outputs().size() > 1 ? parted_by(split, builder) : std::nullopt;
  if (!parted || (axis != -1 && axis != 3)) return Decline{};
  // By itself it is more operators: what reads heads in rows makes up for them.
  if (builder.target != Target::kOrt && !(builder.target == Target::kOnnx && builder.has(23)))
    return Decline{"Attention needs opset 23"};
  const auto& [x, layout, turned] = *parted;
  for (const Value* part : split.outputs())
    if (!part || !part->type.dims || !part->type.dims->back().is(layout.size))
      return Decline{"its parts are not equal"};
  Value* rows = sorted_rows(x, layout, builder);
  if (!rows) return Decline{"it is not of a constant matrix that nothing else reads"};
  const std::vector<int64_t> sizes(split.outputs().size(), layout.heads * layout.size);
  const Node* made = make_split(builder, rows, 2, sizes);
  Replacement parts;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Type& type = split.outputs()[i]->type;
    const SymDims heads{(*x->type.dims)[0], (*x->type.dims)[1], layout.heads, layout.size};
    const Type before = Type::tensor(type.dtype, heads);
    Value* y = make_reshape(builder, made->outputs()[i], {0, 0, layout.heads, layout.size}, before);
    if (turned) y = builder.op("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}, ""}}, type);
    parts.push_back(y);
  }
  return parts;
}

std::vector<Rule> rules() {
  return {{Pattern::op("Reshape", {}).open(), rewrite}, {Pattern::op("Split", {}).open(), rewrite_split}};
}

}  // namespace

const Pass sort_head_parts = {
    "sort_head_parts",
    "give queries, keys and values one after the other where a constant matrix gives them head by head", rules};

}  // namespace mlopt::graphopt
