// Rolls along axes, spelt as two pieces that are joined the other way round, and the Reshapes and Transposes before and
// behind them, as Swin shifts windows -> one Gather of rows, with Reshapes where they are needed.
#include <algorithm>
#include <numeric>

#include "core/rewrite/axis_map.h"
#include "graphopt/passes.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

using Indices = std::vector<int64_t>;

constexpr int64_t kMostRows = 1 << 14, kShortest = 8;  ///< of the Gather: indices, and elements of a row

/// Layout, or a roll: the last Concat and the Split before it.
struct Step {
  const Node *node = nullptr, *split = nullptr;
  const Node& first() const { return split ? *split : *node; }
};

/// Concat(b, a) of a, b = Split(x), which nothing else reads.
std::optional<Step> step_at(const Node* node) {
  if (is_layout(node)) return Step{node};
  if (!node || !node->is("Concat") || node->inputs().size() != 2) return std::nullopt;
  const Value *b = node->input(0), *a = node->input(1);
  const Node* split = a->producer;
  const bool turned = split && split->is("Split") && split->outputs().size() == 2 && split->output(0) == a &&
                      split->output(1) == b && a->single_use() && b->single_use() && a->graph == node->graph();
  return turned ? std::optional(Step{node, split}) : std::nullopt;
}

std::vector<Step> steps_to(const Node& root) {
  constexpr size_t kLongest = 16;
  std::vector<Step> steps;
  const Node* node = &root;
  while (steps.size() < kLongest) {
    const auto step = step_at(node);
    if (!step) break;
    steps.insert(steps.begin(), *step);
    const Value* x = step->first().input(0);
    if (!x->single_use() || x->graph != root.graph()) break;
    node = x->producer;
  }
  return steps;
}

/// Does what reads the result alone go on like this?
bool goes_on(const Node& root) {
  const Value* y = root.output(0);
  if (!y->single_use()) return false;
  const Node* user = y->uses[0].node;
  if (is_layout(user)) return true;
  return user->is("Split") && user->outputs().size() == 2 && user->output(0) && user->output(0)->single_use() &&
         step_at(user->output(0)->uses[0].node);
}

/// The elements of one sample, in the order of a view of it.
class Sample {
 public:
  Sample(SymDims dims, Dim batch) : batch_(std::move(batch)), fits_(take(dims)) {
    int64_t count = 1;
    for (const int64_t d : dims_) count *= d;
    if (count > kMostElements) fits_ = false;
    if (!fits_) return;
    order_.resize(static_cast<size_t>(count));
    std::iota(order_.begin(), order_.end(), 0);
  }

  /// False where samples are not left apart.
  bool apply(const Step& step, const Builder& builder) {
    const auto& out = step.node->output(0)->type.dims;
    if (!fits_ || !out) return false;
    if (step.split) return roll(step, builder);
    if (!step.node->is("Transpose")) return take(*out);
    const Indices perm = builder.view(*step.node).get_ints("perm");
    return is_permutation(perm, dims_.size()) && !perm.empty() && perm[0] == 0 && transpose(perm);
  }

  const Indices& order() const { return order_; }
  bool fits() const { return fits_; }

 private:
  static constexpr int64_t kMostElements = 1 << 22;

  /// The shape with the first axis of one sample.
  bool take(const SymDims& dims) {
    const auto first = dims.empty() ? std::nullopt : Dim::divide(dims[0], batch_);
    dims_ = {first && first->value() ? *first->value() : 0};
    for (size_t i = 1; i < dims.size(); ++i) dims_.push_back(dims[i].value().value_or(0));
    const int64_t count = element_count(dims_);
    return count > 0 && (order_.empty() || count == static_cast<int64_t>(order_.size()));
  }

  bool transpose(const Indices& perm) {
    std::vector<int64_t> strides(dims_.size(), 1), at(dims_.size(), 0);
    for (size_t i = dims_.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims_[i];
    Dims turned;
    for (const int64_t axis : perm) turned.push_back(dims_[static_cast<size_t>(axis)]);
    Indices moved(order_.size());
    for (int64_t& to : moved) {
      int64_t from = 0;
      for (size_t i = 0; i < perm.size(); ++i) from += at[i] * strides[static_cast<size_t>(perm[i])];
      to = order_[static_cast<size_t>(from)];
      for (size_t i = perm.size(); i-- > 0 && ++at[i] == turned[i];) at[i] = 0;
    }
    order_ = std::move(moved), dims_ = std::move(turned);
    return true;
  }

  bool roll(const Step& step, const Builder& builder) {
    const auto rank = static_cast<int64_t>(dims_.size());
    const auto place = [&](const Node& node) {
      const int64_t axis = builder.view(node).get_int("axis", 0);
      return axis < 0 ? axis + rank : axis;
    };
    const int64_t axis = place(*step.node);
    const auto& piece = step.split->output(0)->type.dims;
    if (axis != place(*step.split) || axis <= 0 || axis >= rank || !piece) return false;
    const auto by = (*piece)[static_cast<size_t>(axis)].value();
    if (!by) return false;
    int64_t inner = 1;
    for (size_t i = static_cast<size_t>(axis) + 1; i < dims_.size(); ++i) inner *= dims_[i];
    const int64_t length = inner * dims_[static_cast<size_t>(axis)];
    for (auto row = order_.begin(); row != order_.end(); row += length)
      std::rotate(row, row + *by * inner, row + length);
    return true;
  }

  Dim batch_;
  Dims dims_;
  Indices order_;
  bool fits_;
};

/// The first axis that all shapes are a multiple of.
std::optional<Dim> batch_of(const SymDims& source, std::span<const Step> steps) {
  std::vector<Dim> first{source.empty() ? Dim() : source[0]};
  for (const Step& step : steps) {
    const auto& dims = step.node->output(0)->type.dims;
    first.push_back(dims && !dims->empty() ? (*dims)[0] : Dim());
  }
  for (const Dim& batch : first)
    if (batch.known() && std::all_of(first.begin(), first.end(), [&](const Dim& d) {
          const auto times = Dim::divide(d, batch);
          return times && times->value();
        }))
      return batch;
  return std::nullopt;
}

/// The longest pieces that stay together.
int64_t length_of_rows(const Indices& order) {
  int64_t length = static_cast<int64_t>(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && order[i] == order[i - 1] + 1) continue;
    length = std::gcd(std::gcd(length, static_cast<int64_t>(i)), order[i]);
  }
  return length;
}

/// What the steps do, as rows of [batch, rows, length].
struct Plan {
  Value* source = nullptr;
  SymDims seen;
  Indices rows;
};

std::optional<Plan> plan_of(std::span<const Step> steps, const Builder& builder) {
  Plan plan{steps.front().first().input(0), {}, {}};
  const auto& dims = plan.source->type.dims;
  const auto batch = dims ? batch_of(*dims, steps) : std::nullopt;
  if (!batch) return std::nullopt;
  Sample sample(*dims, *batch);
  for (const Step& step : steps)
    if (!sample.apply(step, builder)) return std::nullopt;
  int64_t length = length_of_rows(sample.order());
  // As the result has them, where a Reshape less is then needed.
  const auto last = steps.back().node->output(0)->type.dims->back().value();
  if (last && *last >= kShortest && length % *last == 0) length = *last;
  const auto count = static_cast<int64_t>(sample.order().size()) / length;
  if (length < kShortest || count > kMostRows) return std::nullopt;
  for (int64_t i = 0; i < count; ++i) plan.rows.push_back(sample.order()[static_cast<size_t>(i * length)] / length);
  plan.seen = {*batch, count, length};
  return plan;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const std::vector<Step> steps = steps_to(*m.root);
  if (std::none_of(steps.begin(), steps.end(), [](const Step& s) { return s.split; }) || goes_on(*m.root))
    return Decline{};
  const Type& type = m.root->output(0)->type;
  for (size_t first = 0; first < steps.size(); ++first) {
    const std::span<const Step> tried = std::span(steps).subspan(first);
    int64_t now = 0, rolls = 0;
    for (const Step& step : tried) now += step.split ? 2 : 1, rolls += step.split ? 1 : 0;
    const auto plan = rolls ? plan_of(tried, builder) : std::nullopt;
    if (!plan || !type.dims) continue;
    const bool before = !same_dims(plan->source->type.dims, plan->seen), behind = !same_dims(type.dims, plan->seen);
    const auto seen = reshape_target(plan->source->type.dims, plan->seen), end = reshape_target(plan->seen, type.dims);
    if (!seen || !end || now <= 1 + int64_t{before} + int64_t{behind}) continue;
    const Type rows = Type::tensor(type.dtype, plan->seen);
    Value* x = before ? make_reshape(builder, plan->source, *seen, rows) : plan->source;
    Value* y = builder.op("Gather", {x, builder.constant("rows", Tensor::ints(plan->rows))}, {{"axis", int64_t{1}, ""}},
                          behind ? rows : type);
    return Replacement{behind ? make_reshape(builder, y, *end, type) : y};
  }
  return Decline{"what it rolls are no rows of the same samples"};
}

std::vector<Rule> rules() {
  return {{Pattern::op("Reshape|Flatten|Squeeze|Unsqueeze|Transpose|Concat", {}).open(), rewrite}};
}

}  // namespace

const Pass rolls_to_gather = {"rolls_to_gather",
                              "rows that are rolled, parted and moved (shifted windows) by one Gather", rules};

}  // namespace mlopt::graphopt
