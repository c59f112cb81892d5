// Reshapes and Transposes of one value, as axis_map.h declares them.
#include <algorithm>
#include <numeric>

#include "core/rewrite/axis_map.h"
#include "core/rewrite/unknown_sizes.h"

namespace mlopt {

constexpr size_t kLongest = 8;  // chain that is looked at

Value* before_axis(const Value* v, size_t axis) {
  const Node* node = v ? v->producer : nullptr;
  if (!node || !(node->is("Unsqueeze") || node->is("Reshape")) || !v->type.dims) return nullptr;
  SymDims wanted = *v->type.dims;
  if (axis >= wanted.size() || !wanted[axis].is(1)) return nullptr;
  wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(axis));
  return node->input(0)->type.dims == wanted ? node->input(0) : nullptr;
}

SymDims without_ones(SymDims dims) {
  std::erase_if(dims, [](const Dim& d) { return d.is(1); });
  return dims;
}

bool is_layout(const Node* node) {
  if (!node) return false;
  for (const char* op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose"})
    if (node->is(op)) return true;
  return false;
}

namespace {

/// With `shared`, other nodes may read what is between.
std::vector<const Node*> chain_to(const Node* last, bool shared) {
  std::vector<const Node*> chain{last};
  for (const Node* node = last; chain.size() < kLongest;) {
    const Value* x = node->input(0);
    if (!x || !(shared || x->single_use()) || !is_layout(x->producer) || x->graph != last->graph()) break;
    node = x->producer;
    chain.insert(chain.begin(), node);
  }
  return chain;
}

bool ends_with_layout(const Value* v, const Builder& builder) {
  return is_layout(v->producer) && v->graph == &builder.graph;
}

}  // namespace

std::vector<const Node*> layout_chain(const Node* last) { return chain_to(last, false); }

std::vector<const Node*> layouts_before(const Value* v, const Builder& builder) {
  return ends_with_layout(v, builder) ? chain_to(v->producer, false) : std::vector<const Node*>();
}

std::vector<const Node*> all_layouts_before(const Value* v, const Builder& builder) {
  return ends_with_layout(v, builder) ? chain_to(v->producer, true) : std::vector<const Node*>();
}

int64_t read_once(const std::vector<const Node*>& chain) {
  const auto stays = [](const Node* node) { return !node->output(0)->single_use(); };
  return std::find_if(chain.rbegin(), chain.rend(), stays) - chain.rbegin();
}

Value* View::make(Builder& builder) const {
  return way.make(builder, source, Type::tensor(source->type.dtype, way.dims()));
}

std::optional<View> viewed(Value* v, const std::vector<const Node*>& chain, const SymDims& wanted,
                           const Builder& builder) {
  Value* source = chain.empty() ? v : chain.front()->input(0);
  const auto& dims = source->type.dims;
  if (!dims || !std::all_of(dims->begin(), dims->end(), [](const Dim& d) { return d.known(); })) return std::nullopt;
  View view{source, AxisMap(*dims)};
  const bool fits = view.way.apply(chain, builder) && view.way.reshape(wanted) && view.way.writable();
  return fits ? std::optional(std::move(view)) : std::nullopt;
}

std::vector<int64_t> permutation_of(const NodeView& transpose, size_t rank) {
  std::vector<int64_t> reversed(rank);
  std::iota(reversed.rbegin(), reversed.rend(), int64_t{0});
  std::vector<int64_t> perm = transpose.get_ints("perm", std::move(reversed));
  return is_permutation(perm, perm.size()) ? perm : std::vector<int64_t>{};
}

bool is_permutation(const std::vector<int64_t>& axes, size_t rank) {
  std::vector<int64_t> all(rank);
  std::iota(all.begin(), all.end(), int64_t{0});
  return std::is_permutation(axes.begin(), axes.end(), all.begin(), all.end());
}

bool moves_only_ones(const std::vector<int64_t>& perm, const SymDims& dims) {
  std::vector<int64_t> longer = perm;
  std::erase_if(longer, [&](int64_t axis) { return dims[static_cast<size_t>(axis)].is(1); });
  return std::is_sorted(longer.begin(), longer.end());
}

void put_back(std::vector<int64_t>& perm, const std::vector<int64_t>& axes) {
  for (const int64_t axis : axes) perm.insert(perm.begin() + std::min(axis, std::ssize(perm)), axis);
}

bool is_last_axis(int64_t axis, size_t rank) { return axis == -1 || axis + 1 == static_cast<int64_t>(rank); }

std::optional<std::vector<int64_t>> reshape_target(const std::optional<SymDims>& x, const std::optional<SymDims>& y) {
  if (!y) return std::nullopt;
  std::vector<int64_t> target;
  bool open = false, maybe_empty = false;
  for (size_t i = 0; i < y->size(); ++i) {
    const Dim& d = (*y)[i];
    if (const auto v = d.value()) {
      if (*v <= 0) return std::nullopt;
      target.push_back(*v);
    } else if (x && i < x->size() && (*x)[i] == d) {
      target.push_back(0);
      maybe_empty |= is_named_size(d);
    } else {
      if (open) return std::nullopt;
      open = true;
      target.push_back(-1);
    }
  }
  if (open && maybe_empty) return std::nullopt;
  return target;
}

Value* make_reshape(Builder& builder, Value* x, const std::vector<int64_t>& target, Type type) {
  if (builder.opset() < 5) return builder.op("Reshape", {x}, {{"shape", target, {}}}, std::move(type));
  return builder.op("Reshape", {x, builder.constant(x->name + "_shape", Tensor::ints(target))}, {}, std::move(type));
}

}  // namespace mlopt
