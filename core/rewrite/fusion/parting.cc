#include "core/rewrite/fusion/parting.h"

#include <algorithm>
#include <numeric>

#include "core/rewrite/fusion/joined_mask.h"
#include "core/rewrite/fusion/lengths.h"

namespace mlopt::fusion {
namespace {

constexpr size_t kMost = 32;  // values that are looked at

bool is_any_of(const Node& node, std::initializer_list<const char*> ops) {
  return std::any_of(ops.begin(), ops.end(), [&](const char* op) { return node.is(op); });
}

/// Have both as many rows and columns?
bool same_matrices(const SymDims& a, const SymDims& b) {
  return a.size() >= 2 && b.size() >= 2 && std::equal(a.end() - 2, a.end(), b.end() - 2);
}

/// The same operator, of matrices in four axes where they were in three.
std::vector<Attr> attributes(const Node& node, const Builder& builder) {
  if (node.is("Softmax")) return {{"axis", int64_t{builder.opset() < 13 ? 3 : -1}, ""}};
  return node.attrs;
}

/// Does it compute each matrix of its operands by itself, whatever axes are in front of rows and columns?
bool computes_matrices(const Node& node, const Builder& builder) {
  if (!node.is("Softmax")) return is_any_of(node, {"Add", "Sub", "Mul", "Div", "Where", "MatMul"});
  const int64_t axis = builder.view(node).get_int("axis", builder.opset() < 13 ? 1 : -1);
  return axis == -1 || axis == 2;
}

}  // namespace

bool Parting::is_joined(const Value* v) const {
  const auto& dims = v->type.dims;
  return dims && dims->size() == 3 && dims->front() == joined_.batch * joined_.heads;
}

SymDims Parting::four(const SymDims& three) const { return {joined_.batch, Dim(joined_.heads), three[1], three[2]}; }

Value* Parting::part(Value* v) {
  if (!is_joined(v) || v->type.dims->front().is(1)) return nullptr;
  const Part part = part_of(v);
  return part.whole ? part.value : nullptr;
}

Parting::Part Parting::part_of(Value* v) {
  if (!v || !v->type.dims) return {};
  if (is_same_for_all(*v->type.dims)) return {v, false};
  if (!is_joined(v)) return {};
  if (const auto found = made_.find(v); found != made_.end()) return found->second;
  if (made_.size() >= kMost) return {};
  const int64_t before = saved_;
  Part part = again(v);
  if (!part.value) {
    saved_ = before;
    part = viewed_from_before(v);
  }
  made_[v] = part;
  return part;
}

Parting::Part Parting::again(Value* v) {
  const Node* node = v->producer;
  if (!node || v->graph != &builder_.graph) return {};
  if (is_any_of(*node, {"Tile", "Expand"})) return unrepeated(v);
  // What others read too would be computed twice.
  if (!v->single_use()) return {};
  if (node->is("Transpose")) return turned(v);
  if (node->is("GatherElements")) return gathered(v);
  return computes_matrices(*node, builder_) ? computed(v) : Part();
}

Parting::Part Parting::computed(Value* v) {
  const Node& node = *v->producer;
  std::vector<Value*> inputs;
  bool whole = false;
  for (Value* input : node.inputs()) {
    const Part part = part_of(input);
    if (!part.value || (node.is("MatMul") && part.value->type.dims && part.value->type.dims->size() < 2)) return {};
    whole = whole || part.whole;
    inputs.push_back(part.value);
  }
  if (!whole) return {};
  const Type type = Type::tensor(v->type.dtype, four(*v->type.dims));
  return {builder_.op(node.op, std::move(inputs), attributes(node, builder_), type), true};
}

/// Transposed matrices.
Parting::Part Parting::turned(Value* v) {
  const Node& node = *v->producer;
  if (builder_.view(node).get_ints("perm") != std::vector<int64_t>{0, 2, 1}) return {};
  const Part part = part_of(node.input(0));
  if (!part.value || !part.value->type.dims) return {};
  SymDims dims = *part.value->type.dims;
  if (dims.size() < 2) return {};
  std::vector<int64_t> perm(dims.size());
  std::iota(perm.begin(), perm.end(), int64_t{0});
  std::swap(perm.back(), perm[perm.size() - 2]);
  std::swap(dims.back(), dims[dims.size() - 2]);
  const Type type = Type::tensor(v->type.dtype, std::move(dims));
  return {builder_.op("Transpose", {part.value}, {{"perm", std::move(perm), ""}}, type), part.whole};
}

/// Elements of rows or columns.
Parting::Part Parting::gathered(Value* v) {
  const Node& node = *v->producer;
  const int64_t axis = builder_.view(node).get_int("axis", 0), from_end = axis < 0 ? axis : axis - 3;
  if (from_end != -1 && from_end != -2) return {};
  const Part data = part_of(node.input(0));
  Value* index = data.whole ? index_of(node.input(1)) : nullptr;
  if (!index) return {};
  const Type type = Type::tensor(v->type.dtype, four(*v->type.dims));
  return {builder_.op("GatherElements", {data.value, index}, {{"axis", from_end, ""}}, type), true};
}

/// The index of elements, which is whole.
Value* Parting::index_of(Value* v) {
  const Part index = part_of(v);
  if (!index.value || index.whole) return index.value;
  Value* samples = shape_with(joined_.batch, 0, 4, builder_);
  if (!samples) return nullptr;
  --saved_;
  Value* heads = builder_.constant("heads", Tensor::ints({1, joined_.heads, 1, 1}));
  return builder_.op("Expand", {index.value, builder_.op("Mul", {samples, heads})}, {},
                     Type::tensor(v->type.dtype, four(*v->type.dims)));
}

/// Matrices of one sample, or one matrix, from before they are repeated.
Parting::Part Parting::unrepeated(Value* v) {
  Value* x = v->producer->input(0);
  const auto& dims = x->type.dims;
  if (!dims || !same_matrices(*dims, *v->type.dims)) return {};
  const bool heads = v->producer->is("Tile") && dims->size() == 3 && dims->front().is(joined_.heads);
  if (!heads && !is_same_for_all(*dims)) return {};
  if (v->single_use()) ++saved_;
  return {x, false};
}

/// From before Reshapes and Transposes, the way that leaves the fewest of them and the most of what is there.
Parting::Part Parting::viewed_from_before(Value* v) {
  std::vector<const Node*> chain = all_layouts_before(v, builder_);
  std::optional<View> best;
  int64_t saved = 0;
  for (; !chain.empty(); chain.erase(chain.begin())) {
    auto view = viewed(v, chain, four(*v->type.dims), builder_);
    const int64_t gain = view ? read_once(chain) - view->way.cost() : 0;
    if (!view || (best && gain < saved)) continue;
    best = std::move(view);
    saved = gain;
  }
  if (!best) return {};
  saved_ += saved;
  return {best->make(builder_), true};
}

}  // namespace mlopt::fusion
