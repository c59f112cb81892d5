#include "graphopt/passes/cell.h"

#include <algorithm>

#include "core/ir/slice_span.h"
#include "core/rewrite/fusion/counting.h"
#include "core/tensor/cast.h"
#include "graphopt/passes/slicing.h"
#include "graphopt/passes/taken_rows.h"

namespace mlopt::graphopt {
namespace {

bool is_float_of_recurrence(DType type) { return type == DType::kF32 || type == DType::kF64; }

/// All columns of a constant matrix; nothing where it is none.
std::optional<Columns> all_columns(const Value* v, bool transposed) {
  const Tensor* t = v ? v->known_constant() : nullptr;
  if (!t || t->rank() != 2 || t->size() == 0 || !is_float_of_recurrence(t->dtype())) return std::nullopt;
  return Columns{v, 0, t->dim(transposed ? 0 : 1), transposed};
}

bool has_equal_rows(const Tensor& t) {
  const int64_t width = t.dims().back();
  for (int64_t i = width; i < t.size(); ++i)
    if (number_at(t, i) != number_at(t, i - width)) return false;
  return true;
}

int64_t width_of(const Affine& a) {
  return a.x ? a.x->count : a.s ? a.s->count : a.bias.empty() ? 0 : a.bias.front().count;
}

void narrow(Affine& a, int64_t first, int64_t count) {
  const auto cut = [&](Columns& c) { c.first += first, c.count = count; };
  if (a.x) cut(*a.x);
  if (a.s) cut(*a.s);
  for (Columns& c : a.bias) cut(c);
}

/// The columns that a Slice of [batch, width], or with an axis in front, takes, where it takes them of every sample.
std::optional<SliceSpan> sliced_columns(const NodeView& view, size_t rank, int64_t width) {
  Dims dims(rank, kBeyondSizes);
  dims.back() = width;
  const auto spans = slice_spans(view, dims);
  if (!spans) return std::nullopt;
  const bool all = std::all_of(spans->begin(), spans->end() - 1, [](const SliceSpan& samples) {
    return samples.first == 0 && samples.count == kBeyondSizes && samples.step == 1;
  });
  const SliceSpan& columns = spans->back();
  return all && columns.count > 0 && columns.step == 1 ? std::optional(columns) : std::nullopt;
}

/// The columns of output `index` of a Split of the same.
std::optional<SliceSpan> split_columns(const NodeView& view, int index, size_t rank, int64_t width) {
  const Node& split = view.node();
  const int64_t parts = std::ssize(split.outputs());
  if (place_in(view.get_int("axis", 0), rank) != rank - 1 || width % parts != 0) return std::nullopt;
  const auto sizes = view.ints("split", 1, std::vector<int64_t>(split.outputs().size(), width / parts));
  if (!sizes || std::ssize(*sizes) != parts) return std::nullopt;
  SliceSpan span;
  for (int i = 0; i < index; ++i) span.first += (*sizes)[static_cast<size_t>(i)];
  span.count = (*sizes)[static_cast<size_t>(index)];
  return span.count > 0 && span.first + span.count <= width ? std::optional(span) : std::nullopt;
}

/// The same piece of what its value turns round along that axis, if it does that.
Piece before_reversal(Piece piece, const Builder& builder) {
  const Node* slice = producer_of(piece.of, "Slice");
  if (!slice || reversed_axis(builder.view(*slice)) != piece.axis) return piece;
  const auto length = (*slice->input(0)->type.dims)[piece.axis].value();
  if (!length) return piece;
  piece.of = slice->input(0);
  piece.start = *length - 1 - piece.start;
  return piece;
}

}  // namespace

const Tensor& Columns::numbers() const { return *of->known_constant(); }

double Columns::at(int64_t row, int64_t column) const {
  const Tensor& t = numbers();
  const int64_t c = first + column;
  return number_at(t, transposed ? c * t.dim(1) + row : row * t.dim(1) + c);
}

std::optional<Activated> activated(const Value* v) {
  const Node* node = v ? v->producer : nullptr;
  for (const char* op : {"Sigmoid", "Tanh", "Relu"})
    if (node && node->is(op)) return Activated{op, node->input(0)};
  return std::nullopt;
}

std::optional<Piece> entry_at(const Value* v, const Builder& builder) {
  const auto piece = piece_of(v, builder);
  const auto& dims = piece ? piece->of->type.dims : std::optional<SymDims>();
  const bool fits = dims && dims->size() == 3 && piece->axis < 2 && piece->length == 1 && !piece->stays;
  return fits ? std::optional(before_reversal(*piece, builder)) : std::nullopt;
}

bool Cell::is_state(const Value* v) const {
  return state_ ? v == state_ : v && v->type.dtype != DType::kF16 && fusion::only_number(v) == 0.0;
}

const Value* Cell::factor_beside_state(const Value* product) const {
  const Node* node = producer_of(product, "Mul");
  if (!node) return nullptr;
  return is_state(node->input(0)) ? node->input(1) : is_state(node->input(1)) ? node->input(0) : nullptr;
}

bool Cell::is_entry(const Value* v) const {
  if (!piece_) return v == entry_;
  const auto piece = v == piece_->of ? piece_ : entry_at(v, *builder_);
  return piece && piece->of == piece_->of && piece->axis == piece_->axis && piece->start == piece_->start;
}

/// A constant row, which may have axes of length 1 in front. What was computed of a state of zeros is one of each
/// sample.
std::optional<Columns> Cell::row(const Value* v) const {
  const Tensor* t = v ? v->known_constant() : nullptr;
  if (!t || t->rank() < 1 || t->size() == 0 || !is_float_of_recurrence(t->dtype())) return std::nullopt;
  const int64_t width = t->dims().back();
  const bool one = t->size() == width || (!state_ && has_equal_rows(*t));
  return one ? std::optional(Columns{v, 0, width}) : std::nullopt;
}

std::optional<Affine> Cell::gate(const Value* v) const {
  auto made = affine(v);
  return made && made->x && is_of_state(*made) ? made : std::nullopt;
}

std::optional<Affine> Cell::affine(const Value* v, int steps) const {
  const Node* node = v ? v->producer : nullptr;
  if (const auto rest = state_ ? std::nullopt : row(v)) return Affine{{}, {}, nullptr, {*rest}};
  if (!node || steps == 0) return std::nullopt;
  // The product with a whole sequence may come before its pieces.
  if (const auto of = piece_ ? entry_at(v, *builder_) : std::nullopt)
    return of->axis == piece_->axis && of->start == piece_->start ? affine(of->of, steps - 1) : std::nullopt;
  if (node->is("MatMul") || node->is("Gemm")) return product(*node);
  if (node->is("Add")) return sum(*node, steps - 1);
  if (node->is("Split") || node->is("Slice")) return part(*v, steps - 1);
  return std::nullopt;
}

std::optional<Affine> Cell::product(const Node& node) const {
  const Value* left = node.input(0);
  Affine made;
  const NodeView view = builder_->view(node);
  const auto columns = all_columns(node.input(1), node.is("Gemm") && view.get_int("transB", 0) != 0);
  const bool of_state = is_state(left) || factor_beside_state(left);
  if (!columns || (!of_state && !is_entry(left))) return std::nullopt;
  if (of_state) made.state = left;
  (of_state ? made.s : made.x) = columns;
  if (!node.is("Gemm")) return made;
  const bool plain =
      view.get_int("transA", 0) == 0 && view.get_float("alpha", 1) == 1 && view.get_float("beta", 1) == 1;
  if (node.input(2)) {
    const auto bias = row(node.input(2));
    if (!bias || bias->count != columns->count) return std::nullopt;
    made.bias.push_back(*bias);
  }
  return plain ? std::optional(made) : std::nullopt;
}

std::optional<Affine> Cell::sum(const Node& node, int steps) const {
  Affine all;
  for (const int i : {0, 1}) {
    if (const auto bias = row(node.input(i))) {
      all.bias.push_back(*bias);
      continue;
    }
    const auto term = affine(node.input(i), steps);
    if (!term || (all.x && term->x) || (all.s && term->s)) return std::nullopt;
    if (term->x) all.x = term->x;
    if (term->s) all.s = term->s, all.state = term->state;
    all.bias.insert(all.bias.end(), term->bias.begin(), term->bias.end());
  }
  const int64_t width = width_of(all);
  const bool fits = (!all.s || all.s->count == width) &&
                    std::all_of(all.bias.begin(), all.bias.end(), [&](const Columns& c) { return c.count == width; });
  return fits && (all.x || all.s) ? std::optional(all) : std::nullopt;
}

std::optional<Affine> Cell::part(const Value& v, int steps) const {
  const NodeView view = builder_->view(*v.producer);
  const Value* x = v.producer->input(0);
  auto whole = affine(x, steps);
  // The body of a Loop, whose state has two axes, may lack shapes.
  const size_t rank = x->type.dims ? x->type.dims->size() : piece_ ? 0 : 2;
  if (!whole || rank < 2) return std::nullopt;
  const auto span = v.producer->is("Slice") ? sliced_columns(view, rank, width_of(*whole))
                                            : split_columns(view, v.output_index, rank, width_of(*whole));
  if (!span) return std::nullopt;
  narrow(*whole, span->first, span->count);
  return whole;
}

}  // namespace mlopt::graphopt
