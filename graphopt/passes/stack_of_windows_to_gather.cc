// Concat(Unsqueeze(x[:, 0:8]), Unsqueeze(x[:, 4:12]), ...), each perhaps transposed -> Gather of all windows at once:
// how PyTorch's older exporter writes unfold, with three operators for each window.
#include <algorithm>
#include <tuple>

#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"
#include "graphopt/passes/axis_order.h"
#include "graphopt/passes/lanes.h"
#include "graphopt/passes/taken_rows.h"

namespace mlopt::graphopt {
namespace {

/// A part of an axis, whose axes come in the order `perm`.
struct Window {
  Piece piece;
  std::vector<int64_t> perm;
};

std::optional<Window> window_of(const Value* part, size_t axis, const Builder& builder) {
  Value* v = before_axis(part, axis);
  if (!v || !v->type.dims) return std::nullopt;
  auto [source, perm] = unturned(v, builder);
  const auto piece = piece_of(source, builder);
  return piece && piece->stays ? std::optional(Window{*piece, std::move(perm)}) : std::nullopt;
}

/// The axes of [..., windows, length, ...] in the order that a stack along `axis` has them.
std::vector<int64_t> order_of(const Window& window, size_t axis) {
  const auto windows = static_cast<int64_t>(window.piece.axis);
  std::vector<int64_t> order;
  for (const int64_t of : window.perm) order.push_back(of < windows ? of : of + 1);
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(axis), windows);
  return order;
}

/// All of them, [..., windows, length, ...].
Value* gathered(const Window& window, const std::vector<int64_t>& starts, Builder& builder) {
  const auto& [x, axis, length] = std::tie(window.piece.of, window.piece.axis, window.piece.length);
  const auto count = static_cast<int64_t>(starts.size());
  std::vector<int64_t> steps;
  for (int64_t i = 0; i < length; ++i) steps.push_back(i);
  // Their sum is folded where it is small.
  Value* first = builder.constant(x->name + "_windows", Tensor::ints(starts).reshaped({count, 1}));
  Value* places = builder.op("Add", {first, builder.constant(x->name + "_steps", Tensor::ints(steps))}, {},
                             Type::tensor(DType::kI64, SymDims{count, length}));
  Type type = x->type;
  (*type.dims)[axis] = length;
  type.dims->insert(type.dims->begin() + static_cast<std::ptrdiff_t>(axis), Dim(count));
  return builder.op("Gather", {x, places}, {{"axis", static_cast<int64_t>(axis), ""}}, type);
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  constexpr size_t kFewest = 4;  // windows that are better off so
  const std::vector<Value*>& parts = m.root->inputs();
  const Type& type = m.root->output(0)->type;
  const auto axis = type.dims ? place_in(builder.view(*m.root).get_int("axis", 1), type.dims->size()) : std::nullopt;
  const auto first = axis && parts.size() >= kFewest ? window_of(parts[0], *axis, builder) : std::nullopt;
  if (!first || first->piece.length < 2) return Decline{};
  if (builder.opset() < 7) return Decline{"Add needs opset 7 to take other shapes"};
  std::vector<int64_t> starts;
  for (const Value* part : parts) {
    const auto window = window_of(part, *axis, builder);
    if (!window || window->piece.of != first->piece.of || window->piece.axis != first->piece.axis ||
        window->perm != first->perm)
      return Decline{"it joins other values as well"};
    if (window->piece.length != first->piece.length) return Decline{"the windows are of other lengths"};
    starts.push_back(window->piece.start);
  }
  Value* y = gathered(*first, starts, builder);
  const std::vector<int64_t> order = order_of(*first, *axis);
  if (std::is_sorted(order.begin(), order.end())) return Replacement{y};
  return Replacement{builder.op("Transpose", {y}, {{"perm", order, ""}}, type)};
}

std::vector<Rule> rules() { return {{Pattern::op("Concat", {}).open(), rewrite}}; }

}  // namespace

const Pass stack_of_windows_to_gather = {"stack_of_windows_to_gather",
                                         "take windows of an axis at once instead of slicing each", rules};

}  // namespace mlopt::graphopt
