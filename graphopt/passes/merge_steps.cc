// Concat(f(x[:, 0]), f(x[:, 1]), ...), which a loop over time that was unrolled leaves -> f of all pieces at once, as
// so many more samples: Keras's TimeDistributed, and loops in Python.
#include <algorithm>

#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"
#include "graphopt/passes/lane_costs.h"
#include "graphopt/passes/lanes.h"
#include "graphopt/passes/taken_rows.h"

namespace mlopt::graphopt {
namespace {

/// What a Concat joins: the lanes' ends, which it joins along an axis of theirs, or stacks, which makes a new one.
struct Join {
  std::vector<Value*> ends;
  std::vector<const Node*> readers;
  size_t axis = 0;
  bool stacks = false;
};

std::optional<Join> join_of(const Node& concat, const Builder& builder) {
  const auto& dims = concat.output(0)->type.dims;
  const auto axis = dims ? place_in(builder.view(concat).get_int("axis", 1), dims->size()) : std::nullopt;
  if (!axis || concat.inputs().size() < 2) return std::nullopt;
  Join join{concat.inputs(), {&concat}, *axis};
  std::vector<Value*> stacked;
  for (const Value* v : join.ends)
    if (Value* end = v->single_use() ? before_axis(v, join.axis) : nullptr) stacked.push_back(end);
  if (stacked.size() < join.ends.size()) return join;
  for (const Value* v : join.ends) join.readers.push_back(v->producer);
  join.ends = stacked;
  join.stacks = true;
  return join;
}

/// The samples of all lanes: those of one lane follow each other where the axis of lanes is first, else a sample's
/// lanes do.
class Samples {
 public:
  Samples(const Lanes& lanes, Builder& builder) : lanes_(lanes), builder_(builder) {
    first_ = std::any_of(lanes.pieces.begin(), lanes.pieces.end(), [](const auto& p) { return p.second.axis == 0; });
  }

  /// Of the type of a lane's value.
  Type type(const Value& v) const {
    SymDims dims = *v.type.dims;
    dims.front() = lanes_.batch * Dim(lanes_.count);
    return Type::tensor(v.type.dtype, dims);
  }

  Value* gather(const Value& v, const Piece& piece) {
    Value* x = piece.of;
    if (piece.length > 1) {
      SymDims dims = *x->type.dims;
      dims[piece.axis] = piece.length;
      dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(piece.axis), Dim(lanes_.count));
      x = shaped(x, Type::tensor(x->type.dtype, dims));
    }
    return shaped(move_axis(x, piece.axis, first_ ? 0 : 1, builder_), type(v));
  }

  /// What the step of one lane does, for all. `made`: of the first lane's values.
  Value* compute(const Node& step, const std::unordered_map<const Value*, Value*>& made) {
    const Type out = type(*step.output(0));
    if (is_layout(&step) && !step.is("Transpose")) return shaped(made.at(step.input(0)), out);
    std::vector<Value*> inputs = step.inputs();
    for (Value*& v : inputs)
      if (const auto at = made.find(v); at != made.end()) v = at->second;
    return step.domain.empty() ? builder_.op(step.op, inputs, step.attrs, out)
                               : builder_.contrib(step.op, inputs, step.attrs, out);
  }

  /// What `join` gives, of its ends' value of all lanes.
  Value* scatter(Value* y, const Join& join) {
    if (first_ && join.axis == 0 && !join.stacks) return y;
    SymDims dims = *y->type.dims;
    dims.front() = lanes_.batch;
    dims.insert(dims.begin() + (first_ ? 0 : 1), Dim(lanes_.count));
    y = move_axis(shaped(y, Type::tensor(y->type.dtype, dims)), first_ ? 0 : 1, join.axis, builder_);
    if (join.stacks) return y;
    dims = *y->type.dims;
    dims[join.axis + 1] = dims[join.axis + 1] * dims[join.axis];
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(join.axis));
    return shaped(y, Type::tensor(y->type.dtype, dims));
  }

 private:
  Value* shaped(Value* x, const Type& type) {
    if (x->type.dims == type.dims) return x;
    std::vector<int64_t> target;
    for (const Dim& d : *type.dims) target.push_back(d.value().value_or(-1));
    return make_reshape(builder_, x, target, type);
  }

  const Lanes& lanes_;
  Builder& builder_;
  bool first_;
};

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const auto join = join_of(*m.root, builder);
  if (!join || builder.opset() < 7) return Decline{};
  const auto lanes = lanes_of(join->ends, join->readers, builder);
  if (!lanes) return lanes.error();
  const auto& steps = lanes->steps;
  if (std::all_of(steps.begin(), steps.end(), [](const Node* n) { return is_layout(n); })) return Decline{};
  if (!pays_at_once(*lanes))
    return Decline{"all steps at once may not stay in the cache: a small batch that is fixed (--fix) could"};
  Samples samples(*lanes, builder);
  std::unordered_map<const Value*, Value*> made;
  for (const auto& [value, piece] : lanes->pieces) made[value] = samples.gather(*value, piece);
  for (const Node* step : steps) made[step->output(0)] = samples.compute(*step, made);
  return Replacement{samples.scatter(made.at(join->ends.front()), *join)};
}

std::vector<Rule> rules() { return {{Pattern::op("Concat", {}).open(), rewrite}}; }

}  // namespace

const Pass merge_steps = {"merge_steps", "compute what is computed alike of each piece of an axis of all at once",
                          rules};

}  // namespace mlopt::graphopt
