#include "core/rewrite/loop_counters.h"

#include <unordered_set>

#include "core/rewrite/carried.h"
#include "core/rewrite/fusion/counting.h"
#include "core/rewrite/numbers.h"
#include "core/rewrite/pattern.h"

namespace mlopt {
namespace {

/// Of a type that holds all counts, as far as TensorFlow's exporter minds.
bool is_wide(const Value* v) {
  const DType type = v->type.dtype;
  return type == DType::kI32 || type == DType::kI64 || type == DType::kF32 || type == DType::kF64;
}

/// The number in another type or shape.
const Value* before_casts(const Value* v) {
  for (const Node* node = v->producer; node && node->input(0); node = v->producer) {
    const bool casts = node->is("Cast") && is_wide(v) && is_wide(node->input(0));
    if (!casts && !node->is("Squeeze") && !node->is("Identity")) break;
    v = node->input(0);
  }
  return v;
}

bool is_same_number(const Value* a, const Value* b) {
  a = before_casts(a), b = before_casts(b);
  const auto x = known_number(a), y = known_number(b);
  if (x || y) return x == y;
  const auto dim = fusion::dim_in(a), other = fusion::dim_in(b);
  return a == b || (dim && dim == other);
}

class Counting {
 public:
  Counting(Model& model, Node* loop)
      : model_(model), loop_(loop), body_(*loop->bodies()[0]), trip_(body_.inputs()[0]) {}

  /// How many counters have gone.
  int64_t replace_counters() {
    const Carried carried = carried_by({*loop_, model_.opset()});
    int64_t gone = 0;
    for (int k = carried.count - 1; k >= 0; --k) {
      if (!is_counter(carried, k)) continue;
      drop_carried(loop_, carried, k, trip_as(carried.parameter(body_, k)->type.dtype), nullptr);
      ++gone;
    }
    return gone;
  }

  /// Does only the trip count end the Loop now, and something else seemed to before?
  bool free_condition() {
    if (!loop_->input(0) || body_.outputs().empty()) return false;
    const Value* go_on = before_identities(body_.outputs()[0]);
    if (known_number(go_on) || go_on == body_.inputs()[1]) return false;
    if (!all_hold(go_on, true) || (loop_->input(1) && !all_hold(loop_->input(1), false))) return false;
    const Tensor yes = number_for(*body_.inputs()[1], Tensor::scalar(true));
    body_.set_output(0, body_.add_constant(body_.fresh_name("go_on"), yes));
    loop_->graph()->set_input(loop_, 1, nullptr);
    return true;
  }

 private:
  /// Does it begin at 0 and go up by 1, and does nobody want the last one?
  bool is_counter(const Carried& carried, int k) const {
    const Value *v = carried.parameter(body_, k), *y = before_identities(carried.made(body_, k));
    const Value *last = loop_->output(k), *first = loop_->input(carried.input + k);
    if (loop_->outputs().size() <= 1 || (last && (!last->uses.empty() || last->is_output()))) return false;
    if (v->is_output() || known_number(first) != 0.0 || is_float(v->type.dtype) || !y->producer) return false;
    // Then it keeps the shape that it has at first: a number's.
    if (!trip_->type.dims || first->type.dims != trip_->type.dims || !y->producer->is("Add")) return false;
    for (const int i : {0, 1}) {
      const Value* one = y->producer->input(i);
      const bool fits = one->type.dims && one->type.dims->size() <= trip_->type.dims->size();
      if (y->producer->input(1 - i) == v && fits && known_number(one) == 1.0) return true;
    }
    return false;
  }

  Value* trip_as(DType type) {
    if (type == trip_->type.dtype) return trip_;
    Node* cast = body_.add_op("Cast", {trip_}, {{"to", static_cast<int64_t>(type), ""}}, body_.nodes().front(), "trip");
    cast->output(0)->type = Type::tensor(type, trip_->type.dims);
    return cast->output(0);
  }

  /// Is it true as long as the trip count leaves something to do? `inside`: it is what an iteration says of the next.
  bool all_hold(const Value* condition, bool inside) const {
    std::vector<const Value*> open{condition};
    std::unordered_set<const Value*> seen;
    while (!open.empty()) {
      const Value* v = before_identities(open.back());
      open.pop_back();
      if (!seen.insert(v).second || holds(*v, inside)) continue;
      const Node* both = producer_of(v, "And");
      if (!both) return false;
      open.insert(open.end(), both->inputs().begin(), both->inputs().end());
    }
    return true;
  }

  bool holds(const Value& condition, bool inside) const {
    if (inside && &condition == body_.inputs()[1]) return true;
    if (const auto known = known_number(&condition)) return *known != 0;
    const Node* less = producer_of(&condition, "Less");
    if (!less || !is_same_number(less->input(1), loop_->input(0))) return false;
    return inside ? ahead(less->input(0)).value_or(2) <= 1
                  : known_number(before_casts(less->input(0))).value_or(1) <= 0;
  }

  /// By how much it is more than the number of the iteration.
  std::optional<double> ahead(const Value* v) const {
    double more = 0;
    for (v = before_casts(v); v != trip_; v = before_casts(v)) {
      const Node* sum = producer_of(v, "Add");
      const int number = sum && known_number(sum->input(0)) ? 0 : 1;
      const auto known = sum ? known_number(sum->input(number)) : std::nullopt;
      if (!known) return std::nullopt;
      more += *known;
      v = sum->input(1 - number);
    }
    return more;
  }

  Model& model_;
  Node* loop_;
  Graph& body_;
  Value* trip_;  ///< the number of the iteration
};

void run(Model& model, const PassContext& context, PassTally& tally) {
  for (Node* node : all_nodes(*model.graph)) {
    const bool usual = node->is("Loop") && node->bodies().size() == 1 && node->bodies()[0]->inputs().size() >= 2;
    if (!usual || !context.allows(*node)) continue;
    Counting counting(model, node);
    tally.applied += counting.replace_counters();
    tally.applied += counting.free_condition();
  }
}

}  // namespace

const Pass loop_counters = {
    "loop_counters", "counters of a Loop as the iteration's number, and its condition as its trip count", nullptr, run};

}  // namespace mlopt
