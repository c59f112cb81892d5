#include "prune/dynamic/token_pruning.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/calib/model_inputs.h"
#include "core/ir/infer.h"
#include "core/ir/macs.h"
#include "core/tensor/cast.h"
#include "prune/dynamic/open_values.h"
#include "prune/dynamic/token_axis.h"
#include "prune/dynamic/writer.h"

namespace mlopt::prune {
namespace {

constexpr int64_t kOpset = 11, kBatchedOpset = 12;  // of TopK as it is used, of GatherND with a batch

/// The probabilities of an attention of tokens by each other; null for any other node.
const Value* probabilities(const Node& node) {
  const Value* p = node.is("Softmax") ? node.output(0) : nullptr;
  const auto dims = p ? p->type.static_dims() : std::nullopt;
  if (!dims || dims->size() < 3 || dims->back() < 2 || (*dims)[dims->size() - 2] != dims->back()) return nullptr;
  const bool multiplied = std::any_of(p->uses.begin(), p->uses.end(), [](const Use& use) {
    return use.node->is("MatMul") && use.index == 0 && !use.node->input(1)->known_constant();
  });
  return multiplied ? p : nullptr;
}

/// Integers that say shapes are no paths for what tokens are.
bool tells_shapes(const Value& v) { return v.type.dtype == DType::kI64 && v.type.dims && v.type.dims->size() <= 1; }

class Finder {
 public:
  Finder(const Model& model, TypeRule standard) : model_(with_smallest_inputs(model, standard)), open_(*model_.graph) {}

  TokenPlaces find() {
    int64_t done = 0;
    for (const Node* node : model_.graph->nodes()) {
      done += macs(NodeView(*node, model_.opset(node->domain))).value_or(0);
      open_.pass(*node);
      if (const Value* p = probabilities(*node)) {
        give_up();
        attention_ = p;
        why_ = "no value behind it is the only one that all else hangs on";
        continue;
      }
      if (attention_) look_at(done);
    }
    give_up();
    return std::move(found_);
  }

 private:
  void give_up() {
    if (attention_) found_.left.emplace(attention_->producer->called(), why_);
    attention_ = nullptr;
  }

  void look_at(int64_t done) {
    const Value* v = open_.only();
    if (!v || !v->producer || tells_shapes(*v)) return;
    const int64_t tokens = attention_->type.static_dims()->back();
    const Dims dims = v->type.static_dims().value_or(Dims{});
    const auto axis = token_axis(dims, tokens);
    if (!axis) return void(why_ = fmt::format("'{}' behind it has not one axis of {} tokens", v->name, tokens));
    const TokenPaths paths = follow_tokens(model_, *v, *axis);
    if (!paths.problem.empty()) return void(why_ = paths.problem);
    found_.places.push_back({attention_->name, v->name, *axis, tokens, paths.reads_first, done});
    attention_ = nullptr;
  }

  /// Of [N, tokens, width], [tokens, N, width] or [tokens, width].
  static std::optional<size_t> token_axis(const Dims& dims, int64_t tokens) {
    std::optional<size_t> axis;
    if (dims.size() < 2 || dims.size() > 3) return axis;
    for (size_t a = 0; a + 1 < dims.size(); ++a) {
      if (dims[a] == tokens && axis) return std::nullopt;
      if (dims[a] == tokens) axis = a;
    }
    return axis;
  }

  Model model_;
  OpenValues open_;
  const Value* attention_ = nullptr;  // behind which no place was found yet
  std::string why_;
  TokenPlaces found_;
};

/// Constant shapes that say how many tokens there are.
void follow_shapes(Model& model, const TokenPaths& paths, int64_t tokens, int64_t keep) {
  Graph& graph = *model.graph;
  for (Node* node : graph.nodes()) {
    if (!node->is("Reshape") && !node->is("Expand")) continue;
    const auto found = paths.axes.find(node->output(0)->name);
    Value* said = node->input(1);
    const Tensor* shape = said ? said->known_constant() : nullptr;
    if (found == paths.axes.end() || !shape) continue;
    std::vector<int64_t> target = to_ints(*shape);
    const std::vector<int64_t> before = target;
    for (const TokenAxis& t : found->second)
      if (t.axis < target.size() && target[t.axis] > 1) target[t.axis] = target[t.axis] / tokens * keep;
    if (target == before) continue;
    graph.set_input(node, 1, graph.add_constant(said->name + "_of_tokens", Tensor::ints(target)));
    if (said->uses.empty() && said->is_initializer() && !said->is_output()) graph.erase(said);
  }
}

/// Writes what chooses tokens.
class Chooser {
 public:
  Chooser(Model& model, const TokenPlace& place, int64_t keep, const Dims& probabilities)
      : write_(*model.graph, model.opset(), "tokens"),
        place_(place),
        keep_(keep),
        p_(probabilities),
        attention_(model.graph->find(place.attention)),
        x_(model.graph->find(place.value)),
        one_(x_->type.dims->size() == 2 || (*x_->type.dims)[1 - place.axis].is(1)) {}

  bool one_sample() const { return one_; }

  Value* choose() {
    Value* which = first_and(most_looked_at());
    if (one_) return write_.op("Gather", {x_, which}, {{"axis", static_cast<int64_t>(place_.axis), ""}});
    const std::vector<Attr> swap = {{"perm", std::vector<int64_t>{1, 0, 2}, ""}};
    Value* x = place_.axis == 0 ? write_.op("Transpose", {x_}, swap) : x_;
    Value* taken = write_.op("GatherND", {x, write_.unsqueeze(which, 2)}, {{"batch_dims", int64_t{1}, ""}});
    return place_.axis == 0 ? write_.op("Transpose", {taken}, swap) : taken;
  }

 private:
  /// How much each token is looked at: [tokens] of one sample, else [N, tokens].
  Value* received() {
    const auto rank = static_cast<int64_t>(p_.size());
    std::vector<int64_t> others(p_.size() - 1);
    std::iota(others.begin(), others.end(), 0);
    if (one_) return write_.reduce("ReduceMean", attention_, others);
    if (rank > 3) return write_.reduce("ReduceMean", attention_, {others.begin() + 1, others.end()});
    // Heads lie beside samples, within them.
    Value* by_head = write_.reshape(write_.reduce("ReduceMean", attention_, {1}), {-1, p_[0], place_.tokens});
    return write_.reduce("ReduceMean", by_head, {1});
  }

  int64_t last() const { return one_ ? 0 : 1; }

  Value* most_looked_at() {
    Value* scores = received();
    int64_t k = keep_;
    if (place_.first_stays) {
      scores = write_.slice(scores, last(), 1, place_.tokens);
      --k;
    }
    Node* top = write_.node("TopK", {scores, write_.indices({k})}, {{"axis", last(), ""}}, 2);
    return top->output(1);
  }

  Value* first_and(Value* others) {
    if (!place_.first_stays) return others;
    Value* shifted = write_.op("Add", {others, write_.indices({1})});
    Value* first = write_.indices({0});
    if (!one_) first = write_.op("Mul", {write_.slice(others, 1, 0, 1), first});
    return write_.op("Concat", {first, shifted}, {{"axis", last(), ""}});
  }

  Writer write_;
  const TokenPlace& place_;
  int64_t keep_;
  Dims p_;
  Value *attention_, *x_;
  bool one_;
};

}  // namespace

TokenPlaces token_places(const Model& model, TypeRule standard) { return Finder(model, standard).find(); }

int64_t tokens_left(const TokenPlace& place, double gone) {
  const auto stay = std::llround(static_cast<double>(place.tokens) * (1 - gone));
  return std::clamp<int64_t>(stay, place.first_stays ? 2 : 1, place.tokens);
}

void prune_tokens(Model& model, const TokenPlace& place, int64_t keep, TypeRule standard) {
  const Model known = with_smallest_inputs(model, standard);
  const Value& from = *known.graph->find(place.value);
  const TokenPaths paths = follow_tokens(known, from, place.axis);
  Graph& graph = *model.graph;
  Value* x = graph.find(place.value);
  Chooser chooser(model, place, keep, *known.graph->find(place.attention)->type.static_dims());
  const int64_t needed = chooser.one_sample() ? kOpset : kBatchedOpset;
  if (model.opset() < needed)
    unsupported_error(fmt::format("choosing tokens needs opset {}", needed), model.path, "mlopt convert --opset 17");
  const std::vector<Use> readers = x->uses;
  Value* chosen = chooser.choose();
  for (const Use& use : readers) use.node->graph()->set_input(use.node, use.index, chosen);
  follow_shapes(model, paths, place.tokens, keep);
  graph.sort();
  infer(model, standard);
  const Model made = with_smallest_inputs(model, standard);
  for (size_t i = 0; i < known.graph->outputs().size(); ++i)
    if (made.graph->outputs()[i]->type.static_dims() != known.graph->outputs()[i]->type.static_dims())
      unsupported_error(fmt::format("with fewer tokens the shape of the output '{}' is another, or not known",
                                    known.graph->outputs()[i]->name),
                        model.path, "its shapes may be computed from how many tokens there were");
}

}  // namespace mlopt::prune
