#include "graphopt/passes/cell.h"

#include <algorithm>

#include "core/ir/constant.h"
#include "core/ir/slice_span.h"
#include "core/rewrite/carried.h"
#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/numbers.h"
#include "graphopt/passes/reduction.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// All columns of a constant matrix; nothing where it is none.
std::optional<Columns> all_columns(const Value* v) {
  const Tensor* t = v ? v->known_constant() : nullptr;
  if (!t || t->rank() != 2 || t->size() == 0 || !is_foldable_float(t->dtype())) return std::nullopt;
  return Columns{v, 0, t->dim(1)};
}

/// A constant row, which may have an axis of length 1 in front.
std::optional<Columns> row_of(const Value* v) {
  const Tensor* t = v ? v->known_constant() : nullptr;
  if (!t || t->rank() < 1 || t->rank() > 2 || !is_foldable_float(t->dtype())) return std::nullopt;
  const int64_t width = t->dims().back();
  return t->size() == width ? std::optional(Columns{v, 0, width}) : std::nullopt;
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

/// The columns that a Slice of [batch, width] takes, where it takes them of every sample.
std::optional<SliceSpan> sliced_columns(const NodeView& view, int64_t width) {
  const auto spans = slice_spans(view, {kBeyondSizes, width});
  if (!spans) return std::nullopt;
  const SliceSpan &samples = spans->front(), &columns = spans->back();
  const bool all = samples.first == 0 && samples.count == kBeyondSizes && samples.step == 1;
  return all && columns.count > 0 && columns.step == 1 ? std::optional(columns) : std::nullopt;
}

/// The columns of output `index` of a Split of [batch, width].
std::optional<SliceSpan> split_columns(const NodeView& view, int index, int64_t width) {
  const Node& split = view.node();
  const int64_t axis = view.get_int("axis", 0), parts = std::ssize(split.outputs());
  if ((axis != 1 && axis != -1) || width % parts != 0) return std::nullopt;
  const auto sizes = view.ints("split", 1, std::vector<int64_t>(split.outputs().size(), width / parts));
  if (!sizes || std::ssize(*sizes) != parts) return std::nullopt;
  SliceSpan span;
  for (int i = 0; i < index; ++i) span.first += (*sizes)[static_cast<size_t>(i)];
  span.count = (*sizes)[static_cast<size_t>(index)];
  return span.count > 0 && span.first + span.count <= width ? std::optional(span) : std::nullopt;
}

/// [1, gates * width, rows], as the operators have it: each gate's matrix transposed.
std::vector<double> transposed(const std::vector<Columns>& gates, int64_t rows) {
  std::vector<double> all;
  for (const Columns& gate : gates) {
    const std::vector<double> numbers = to_doubles(*gate.of->known_constant());
    const auto columns = static_cast<int64_t>(numbers.size()) / rows;
    for (int64_t c = gate.first; c < gate.first + gate.count; ++c)
      for (int64_t r = 0; r < rows; ++r) all.push_back(numbers[static_cast<size_t>(r * columns + c)]);
  }
  return all;
}

void add_biases(const std::vector<Columns>& biases, int64_t width, std::vector<double>& all) {
  std::vector<double> sum(static_cast<size_t>(width), 0);
  for (const Columns& bias : biases)
    for (int64_t i = 0; i < width; ++i)
      sum[static_cast<size_t>(i)] += number_at(*bias.of->known_constant(), bias.first + i);
  all.insert(all.end(), sum.begin(), sum.end());
}

/// Is it the number of the iteration, which may be in another type of integers?
bool is_trip(const Value* v, const Graph& body) {
  const Node* cast = producer_of(v, "Cast");
  return (cast ? cast->input(0) : v) == body.inputs()[0];
}

}  // namespace

std::optional<Activated> activated(const Value* v) {
  const Node* node = v ? v->producer : nullptr;
  for (const char* op : {"Sigmoid", "Tanh", "Relu"})
    if (node && node->is(op)) return Activated{op, node->input(0)};
  return std::nullopt;
}

const Value* factor_beside(const Value* product, const Value* other) {
  const Node* node = producer_of(product, "Mul");
  if (!node) return nullptr;
  return node->input(0) == other ? node->input(1) : node->input(1) == other ? node->input(0) : nullptr;
}

Expected<Cell> Cell::of(const Node& loop, const Builder& builder) {
  const Carried carried = carried_by(builder.view(loop));
  if (!loop.is("Loop") || carried.count != 1 || builder.opset() < 7) return Decline{};
  const Graph& body = *loop.bodies()[0];
  Cell cell;
  cell.opset_ = builder.opset();
  cell.initial_ = loop.input(2);
  cell.state_ = carried.parameter(body, 0);
  cell.next_ = before_identities(carried.made(body, 0));
  for (const Value* given : body.outputs())
    if (given != body.outputs()[0] && before_identities(given) != cell.next_)
      return Decline{"it gives more than states"};
  const Tensor* go_on = before_identities(body.outputs()[0])->known_constant();
  if (loop.input(1) || !go_on || go_on->size() != 1 || number_at(*go_on, 0) == 0)
    return Decline{"a condition may end it"};
  for (const Node* node : body.nodes())
    if (node->is("Gather") && is_trip(node->input(1), body) && node->input(0)->graph != &body) {
      if (cell.entry_ || builder.view(*node).get_int("axis", 0) != 0) return Decline{"it walks along two sequences"};
      cell.entry_ = node->output(0);
      cell.sequence_ = node->input(0);
    }
  if (!cell.entry_) return Decline{"it walks along no sequence"};
  const auto &dims = cell.sequence_->type.dims, &state = cell.initial_ ? cell.initial_->type.dims : dims;
  if (!dims || dims->size() != 3 || !cell.initial_ || !state || state->size() != 2)
    return Decline{"its sequence is not of [steps, batch, inputs] or its state not of [batch, units]"};
  const auto trips = fusion::dim_in(loop.input(0));
  if (!trips || !(*trips == (*dims)[0])) return Decline{"it does not walk along the whole sequence"};
  if (!((*state)[0] == (*dims)[1])) return Decline{"its state is of another batch than its sequence"};
  return cell;
}

std::optional<Affine> Cell::affine(const Value* v, int steps) const {
  const Node* node = v ? v->producer : nullptr;
  if (!node || steps == 0) return std::nullopt;
  if (node->is("MatMul") || node->is("Gemm")) return product(*node);
  if (node->is("Add")) return sum(*node, steps - 1);
  if (node->is("Split") || node->is("Slice")) return part(*v, steps - 1);
  return std::nullopt;
}

std::optional<Affine> Cell::product(const Node& node) const {
  const Value* left = node.input(0);
  Affine made;
  const auto columns = all_columns(node.input(1));
  const bool of_state = left == state_ || factor_beside(left, state_);
  if (!columns || (left != entry_ && !of_state)) return std::nullopt;
  if (of_state) made.state = left;
  (of_state ? made.s : made.x) = columns;
  if (!node.is("Gemm")) return made;
  const NodeView view(node, opset_);
  const bool plain = view.get_int("transA", 0) == 0 && view.get_int("transB", 0) == 0 &&
                     view.get_float("alpha", 1) == 1 && view.get_float("beta", 1) == 1;
  if (node.input(2)) {
    const auto row = row_of(node.input(2));
    if (!row || row->count != columns->count) return std::nullopt;
    made.bias.push_back(*row);
  }
  return plain ? std::optional(made) : std::nullopt;
}

std::optional<Affine> Cell::sum(const Node& node, int steps) const {
  Affine all;
  for (const int i : {0, 1}) {
    if (const auto row = row_of(node.input(i))) {
      all.bias.push_back(*row);
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
  const NodeView view(*v.producer, opset_);
  auto whole = affine(v.producer->input(0), steps);
  if (!whole) return std::nullopt;
  const auto span = v.producer->is("Slice") ? sliced_columns(view, width_of(*whole))
                                            : split_columns(view, v.output_index, width_of(*whole));
  if (!span) return std::nullopt;
  narrow(*whole, span->first, span->count);
  return whole;
}

Expected<Replacement> Cell::replace(const std::string& op, const std::vector<Gate>& gates, std::vector<Attr> attrs,
                                    const Match& m, Builder& builder) const {
  const Tensor& like = *gates.front().x.of->known_constant();
  const int64_t width = gates.front().x.count, inputs = like.dim(0), count = std::ssize(gates);
  std::vector<Columns> w, r;
  std::vector<double> biases;
  for (const Gate& gate : gates) {
    const Tensor &x = *gate.x.of->known_constant(), &s = *gate.s.of->known_constant();
    if (x.dim(0) != inputs || s.dim(0) != width || gate.x.count != width || gate.s.count != width)
      return Decline{"its gates differ in size"};
    w.push_back(gate.x), r.push_back(gate.s);
    add_biases(gate.x_bias, width, biases);
  }
  for (const Gate& gate : gates) add_biases(gate.s_bias, width, biases);
  if (!(*initial_->type.dims)[1].is(width)) return Decline{"its state has another width than its gates"};
  const auto weight = tensor_like(like, {1, count * width, inputs}, transposed(w, inputs));
  const auto recurrence = tensor_like(like, {1, count * width, width}, transposed(r, width));
  const auto bias = tensor_like(like, {1, 2 * count * width}, biases);
  if (!weight || !recurrence || !bias) return Decline{"its weights do not fit their type"};
  const DType type = like.dtype();
  const SymDims& steps = *sequence_->type.dims;
  Value* first = make_squeeze(builder, "Unsqueeze", initial_, {0}, Type::tensor(type, SymDims{1, steps[1], width}));
  attrs.push_back({"hidden_size", width, ""});
  Node* layer =
      builder.graph.add_op(op,
                           {sequence_, builder.constant(op + "_W", *weight), builder.constant(op + "_R", *recurrence),
                            builder.constant(op + "_B", *bias), nullptr, first},
                           std::move(attrs), m.root, m.root->output(0) ? m.root->output(0)->name : op, 2);
  if (!m.root->name.empty()) layer->name = m.root->name + "_" + op;
  layer->output(0)->type = Type::tensor(type, SymDims{steps[0], 1, steps[1], width});
  layer->output(1)->type = Type::tensor(type, SymDims{1, steps[1], width});
  const Type all = Type::tensor(type, SymDims{steps[0], steps[1], width});
  Replacement made{
      make_squeeze(builder, "Squeeze", layer->output(1), {0}, Type::tensor(type, SymDims{steps[1], width}))};
  for (size_t i = 1; i < m.root->outputs().size(); ++i)
    made.push_back(make_squeeze(builder, "Squeeze", layer->output(0), {1}, all));
  return made;
}

}  // namespace mlopt::graphopt
