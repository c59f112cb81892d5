#include "graphopt/passes/lanes.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_set>

#include "core/ir/slice_span.h"
#include "core/rewrite/axis_map.h"
#include "core/rewrite/fusion/twins.h"
#include "core/rewrite/numbers.h"
#include "graphopt/passes/reduction.h"
#include "graphopt/passes/rows_needed.h"
#include "graphopt/passes/slicing.h"
#include "graphopt/passes/taken_rows.h"

namespace mlopt::graphopt {
namespace {

std::optional<Piece> gathered_piece(const Node& gather, const Builder& builder) {
  const auto& dims = gather.input(0)->type.dims;
  const Tensor* index = gather.input(1)->known_constant();
  if (!dims || !index || index->rank() != 0) return std::nullopt;
  const auto axis = place_in(builder.view(gather).get_int("axis", 0), dims->size());
  const auto length = axis ? (*dims)[*axis].value() : std::nullopt;
  const auto place =
      length ? place_in(static_cast<int64_t>(number_at(*index, 0)), static_cast<size_t>(*length)) : std::nullopt;
  if (!place) return std::nullopt;
  return Piece{gather.input(0), *axis, static_cast<int64_t>(*place)};
}

std::optional<Piece> split_piece(const Value& v, const Builder& builder) {
  const Node& split = *v.producer;
  const auto& dims = split.input(0)->type.dims;
  const auto axis = dims ? place_in(builder.view(split).get_int("axis", 0), dims->size()) : std::nullopt;
  if (!axis || !v.type.dims) return std::nullopt;
  for (const Value* part : split.outputs())
    if (!part || part->type.dims != v.type.dims) return std::nullopt;
  const auto length = (*v.type.dims)[*axis].value();
  if (!length) return std::nullopt;
  return Piece{split.input(0), *axis, v.output_index * *length, *length, true};
}

std::optional<Piece> sliced_piece(const Node& slice, const Builder& builder) {
  const auto slicing = Slicing::of(builder.view(slice));
  if (!slicing || slicing->axes.size() != 1) return std::nullopt;
  const auto axis = static_cast<size_t>(slicing->axes[0]);
  const auto whole = (*slice.input(0)->type.dims)[axis].value();
  if (!whole) return std::nullopt;
  const SliceSpan span = slice_span(*whole, slicing->starts[0], slicing->ends[0], slicing->steps[0]);
  if (span.count < 1 || span.step != 1) return std::nullopt;
  return Piece{slice.input(0), axis, span.first, span.count, true};
}

/// What an operator takes of the axis itself.
std::optional<Piece> taken_piece(const Value* v, const Builder& builder) {
  const Node* node = v && v->graph == &builder.graph ? v->producer : nullptr;
  if (!node) return std::nullopt;
  if (node->is("Gather")) return gathered_piece(*node, builder);
  if (node->is("Split")) return split_piece(*v, builder);
  return node->is("Slice") ? sliced_piece(*node, builder) : std::nullopt;
}

/// Operators on samples of several axes that are not told row by row.
constexpr std::array kOfSamples = {"AveragePool",
                                   "BatchNormalization",
                                   "Conv",
                                   "ConvTranspose",
                                   "GlobalAveragePool",
                                   "GlobalMaxPool",
                                   "GroupNormalization",
                                   "InstanceNormalization",
                                   "LRN",
                                   "LpPool",
                                   "MaxPool"};

using Row = std::vector<Value*>;  // a value of each lane

/// The same numbers in every lane.
bool are_shared(const Row& row) {
  return row[0] && row[0]->known_constant() &&
         std::all_of(row.begin(), row.end(), [&](const Value* v) { return fusion::are_twins(row[0], v); });
}

bool are_alike(const Node& a, const Node& b) {
  return a.op == b.op && a.domain == b.domain && a.inputs().size() == b.inputs().size() && a.outputs().size() == 1 &&
         b.outputs().size() == 1 && a.bodies().empty() && fusion::have_equal_attributes(a, b);
}

class Walk {
 public:
  Walk(const std::vector<const Node*>& readers, const Builder& builder)
      : builder_(builder), nodes_(readers.begin(), readers.end()) {}

  Expected<Lanes> run(const Row& ends) {
    lanes_.count = std::ssize(ends);
    if (!reach(ends)) return Decline{};
    while (!waiting_.empty()) {
      const Row row = std::move(waiting_.back());
      waiting_.pop_back();
      if (!visit(row)) return Decline{lanes_.pieces.empty() ? "" : "the steps are not computed alike"};
    }
    if (lanes_.pieces.empty()) return Decline{};
    order();
    if (const auto reason = check(); !reason.empty()) return Decline{reason};
    return lanes_;
  }

 private:
  /// False where a lane's value is another one than it was before.
  bool reach(const Row& row) {
    const auto [at, fresh] = rows_.try_emplace(row[0], row);
    if (fresh) waiting_.push_back(row);
    return at->second == row;
  }

  bool visit(const Row& row) {
    if (take_pieces(row)) return true;
    std::vector<const Node*> nodes;
    for (const Value* v : row) {
      const Node* node = v->graph == &builder_.graph ? v->producer : nullptr;
      if (!node || !are_alike(*row[0]->producer, *node) || !nodes_.insert(node).second) return false;
      nodes.push_back(node);
    }
    first_.insert(nodes[0]);
    // A shape is that of the first lane and is written anew.
    const size_t inputs = is_layout(nodes[0]) ? 1 : nodes[0]->inputs().size();
    for (size_t i = 0; i < inputs; ++i) {
      Row given;
      for (const Node* node : nodes) given.push_back(node->inputs()[i]);
      if (std::count(given.begin(), given.end(), nullptr) == std::ssize(given) || are_shared(given)) continue;
      if (std::count(given.begin(), given.end(), nullptr) > 0 || !reach(given)) return false;
    }
    return true;
  }

  /// Is it every piece of one axis, in order?
  bool take_pieces(const Row& row) {
    const auto first = piece_of(row[0], builder_);
    if (!first || !(*first->of->type.dims)[first->axis].is(lanes_.count * first->length)) return false;
    for (int64_t i = 0; i < lanes_.count; ++i) {
      const auto piece = piece_of(row[static_cast<size_t>(i)], builder_);
      if (!piece || piece->of != first->of || piece->axis != first->axis || piece->stays != first->stays) return false;
      if (piece->length != first->length || piece->start != i * first->length) return false;
    }
    lanes_.pieces[row[0]] = *first;
    return true;
  }

  void order() {
    for (const Node* node : builder_.graph.nodes())
      if (first_.contains(node)) lanes_.steps.push_back(node);
  }

  std::string check() {
    const auto& dims = lanes_.pieces.begin()->first->type.dims;
    if (!dims || dims->empty()) return "a step has no axis of samples";
    lanes_.batch = dims->front();
    if (lanes_.batch.is(0)) return "there are no samples";
    for (const auto& [value, row] : rows_)
      for (const Value* v : row)
        if (!lanes_.pieces.contains(value) && !stays_inside(*v)) return "something else reads what a step computes";
    for (const auto& [value, row] : rows_)
      if (!has_samples(*value)) return "what a step computes has no axis of samples, or other sizes are not known";
    for (const Node* node : lanes_.steps)
      if (!keeps_samples(*node)) return "a step mixes samples, or may: " + node->op;
    return {};
  }

  bool stays_inside(const Value& v) const {
    return !v.is_output() &&
           std::all_of(v.uses.begin(), v.uses.end(), [&](const Use& use) { return nodes_.contains(use.node); });
  }

  /// Is the first axis that of the samples, and is every other size known?
  bool has_samples(const Value& v) const {
    const auto& dims = v.type.dims;
    return dims && !dims->empty() && dims->front() == lanes_.batch &&
           std::all_of(dims->begin() + 1, dims->end(), [](const Dim& d) { return d.value().value_or(0) > 0; });
  }

  bool is_in_lane(const Value* v) const { return v && rows_.contains(v); }

  bool keeps_samples(const Node& node) const {
    if (is_layout(&node) && !node.is("Transpose")) return true;  // the elements stay in order
    const auto& inputs = node.inputs();
    const bool first_only = is_in_lane(inputs[0]) &&
                            std::none_of(inputs.begin() + 1, inputs.end(), [&](Value* v) { return is_in_lane(v); });
    if (node.domain.empty() && std::find(kOfSamples.begin(), kOfSamples.end(), node.op) != kOfSamples.end())
      return first_only;
    if (node.is("Gemm")) return first_only && adds_row(node);
    if (node.domain.empty() && node.op.starts_with("Reduce")) {
      const auto reduction = Reduction::of(builder_.view(node));
      return first_only && reduction && (reduction->axes.empty() || reduction->axes.front() > 0);
    }
    return is_row_by_row(node);
  }

  bool adds_row(const Node& gemm) const {
    const Value* c = gemm.input(2);
    const bool row = !c || (c->type.dims && (c->type.dims->size() < 2 || c->type.dims->front().is(1)));
    return row && builder_.view(gemm).get_int("transA", 0) == 0;
  }

  bool is_row_by_row(const Node& node) const {
    const auto rows = rows_needed(node, 0, true, builder_);
    if (!rows) return false;
    const size_t rank = node.output(0)->type.dims->size();
    for (size_t i = 0; i < rows->size(); ++i) {
      const Value* v = node.inputs()[i];
      if (!v) continue;
      // An operand that is broadcast along the samples is that row where a lane has one sample.
      const bool single = works_by_element(node) && v->type.dims->size() == rank && v->type.dims->front().is(1);
      const bool row = (*rows)[i] == size_t{0} || single;
      if (is_in_lane(v) ? !row : (*rows)[i].has_value()) return false;
    }
    return true;
  }

  const Builder& builder_;
  Lanes lanes_;
  std::unordered_map<const Value*, Row> rows_;  // by the first lane's value
  std::vector<Row> waiting_;
  std::unordered_set<const Node*> nodes_, first_;  // of all lanes, with what reads their ends; of the first one
};

}  // namespace

std::optional<Piece> piece_of(const Value* v, const Builder& builder) {
  const Node* node = v && v->graph == &builder.graph ? v->producer : nullptr;
  if (!node || !(node->is("Squeeze") || node->is("Reshape"))) return taken_piece(v, builder);
  auto piece = taken_piece(node->input(0), builder);
  if (!piece || !piece->stays || piece->length != 1 || !v->type.dims || !node->input(0)->type.dims) return std::nullopt;
  SymDims left = *node->input(0)->type.dims;
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(piece->axis));
  if (left != *v->type.dims) return std::nullopt;
  piece->stays = false;
  return piece;
}

Value* move_axis(Value* x, size_t from, size_t to, Builder& builder) {
  if (from == to) return x;
  std::vector<int64_t> perm(x->type.dims->size());
  std::iota(perm.begin(), perm.end(), 0);
  return builder.op("Transpose", {x}, {{"perm", with_moved(perm, from, to), ""}},
                    Type::tensor(x->type.dtype, with_moved(*x->type.dims, from, to)));
}

Expected<Lanes> lanes_of(const std::vector<Value*>& ends, const std::vector<const Node*>& readers,
                         const Builder& builder) {
  return Walk(readers, builder).run(ends);
}

}  // namespace mlopt::graphopt
