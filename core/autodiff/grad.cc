#include "core/autodiff/grad.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/autodiff/rule.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

using autodiff::GradArgs;
using autodiff::GradRule;

/// The axes of `from` over which a value of dims `to` was broadcast, leading ones included.
std::vector<int64_t> broadcast_axes(const Dims& from, const Dims& to) {
  std::vector<int64_t> axes;
  const size_t more = from.size() - to.size();
  for (size_t i = 0; i < from.size(); ++i)
    if (i < more || (to[i - more] == 1 && from[i] != 1)) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

class Differentiator {
 public:
  Differentiator(Model& model, Value* loss, std::span<Value* const> wrt, TypeRule types)
      : model_(model), types_(types), loss_(loss), wrt_(wrt), forward_(model.graph->nodes()) {
    follow(wrt);
    if (reached_.contains(loss)) grads_[loss] = seed(loss);
  }

  std::vector<Value*> run() {
    for (auto node = forward_.rbegin(); node != forward_.rend(); ++node)
      if (wants_gradient(**node)) differentiate(**node);
    std::vector<Value*> found;
    for (const Value* v : wrt_) {
      const auto grad = grads_.find(v);
      found.push_back(grad == grads_.end() ? nullptr : grad->second);
    }
    for (Node* node : replaced_) model_.graph->erase(node);
    return found;
  }

 private:
  /// Values that depend on `from` and are floats, or may be.
  void follow(std::span<Value* const> from) {
    for (const Value* v : from)
      if (is_float(v->type.dtype)) reached_.insert(v);
    for (const Node* node : forward_) {
      const bool depends = std::any_of(node->inputs().begin(), node->inputs().end(),
                                       [&](const Value* v) { return v && reached_.contains(v); }) ||
                           reads_in_bodies(*node);
      if (!depends) continue;
      for (const Value* out : node->outputs())
        if (out && may_be_float(out->type)) reached_.insert(out);
    }
  }

  static bool may_be_float(const Type& type) { return !type.has_dtype() || is_float(type.dtype); }

  bool reads_in_bodies(const Node& node) const {
    for (const Graph* body : node.bodies())
      for (const Value* v : captures(*body))
        if (reached_.contains(v)) return true;
    return false;
  }

  Value* seed(const Value* loss) {
    if (!is_float(loss->type.dtype))
      unsupported_error("no gradient: the type of the loss is not known", fmt::format("'{}'", loss->name),
                        "mlopt check names the operators whose types cannot be inferred");
    const Dims dims = loss->type.static_dims().value_or(Dims{});
    if (element_count(dims) != 1) internal_error("a loss has one element", loss->name);
    return model_.graph->add_constant("grad/one", cast(Tensor::of<double>(dims, {1}), loss->type.dtype));
  }

  bool wants_gradient(const Node& node) const {
    return std::any_of(node.outputs().begin(), node.outputs().end(),
                       [&](const Value* v) { return v && grads_.contains(v); });
  }

  /// Does the caller hold an output of the node?
  bool is_held(const Node& node) const {
    return std::any_of(node.outputs().begin(), node.outputs().end(), [&](const Value* v) {
      return v && (v == loss_ || std::find(wrt_.begin(), wrt_.end(), v) != wrt_.end());
    });
  }

  void differentiate(Node& node) {
    std::vector<bool> needed;
    for (const Value* v : node.inputs()) needed.push_back(v && reached_.contains(v));
    if (std::find(needed.begin(), needed.end(), true) == needed.end() && !reads_in_bodies(node)) return;
    const GradRule* rule = autodiff::find_rule(node);
    if (!rule) no_rule(node);
    std::vector<Value*> grads;
    for (const Value* v : node.outputs()) {
      const auto grad = v ? grads_.find(v) : grads_.end();
      grads.push_back(grad == grads_.end() ? nullptr : grad->second);
    }
    GradArgs args(model_, node, std::move(grads), needed, types_);
    const std::vector<Value*> made = rule->backward(args);
    for (size_t i = 0; i < made.size(); ++i)
      if (made[i] && needed[i]) add(args, node.inputs()[i], made[i]);
    if (args.replaced() && !is_held(node)) replaced_.push_back(&node);
  }

  /// One more term of the gradient of `value`.
  void add(GradArgs& args, const Value* value, Value* term) {
    const Dims to = args.dims(value);
    term = args.reshaped(args.sum(term, broadcast_axes(args.dims(term), to)), to);
    Value*& grad = grads_[value];
    grad = grad ? args.op("Add", {grad, term}) : term;
  }

  [[noreturn]] void no_rule(const Node& node) const {
    const std::vector<std::string> names = trained_before(node);
    unsupported_error(fmt::format("no gradient rule for {}", node.op), node.label(),
                      fmt::format("freeze what lies before it: --freeze '{}'", join(names, "' --freeze '")));
  }

  /// Names of what is trained and reaches the node: the first few.
  std::vector<std::string> trained_before(const Node& node) const {
    constexpr size_t kShown = 4;
    std::unordered_set<const Value*> before;
    const auto add_read = [&](const Node& reader) {
      before.insert(reader.inputs().begin(), reader.inputs().end());
      for (const Graph* body : reader.bodies())
        for (const Value* v : captures(*body)) before.insert(v);
    };
    add_read(node);
    for (auto earlier = forward_.rbegin(); earlier != forward_.rend(); ++earlier)
      for (const Value* out : (*earlier)->outputs())
        if (out && before.contains(out)) add_read(**earlier);
    std::vector<std::string> names;
    for (const Value* v : wrt_)
      if (before.contains(v) && names.size() < kShown) names.push_back(v->name);
    return names;
  }

  Model& model_;
  TypeRule types_;
  const Value* loss_;
  std::span<Value* const> wrt_;
  std::vector<Node*> forward_;
  std::vector<Node*> replaced_;
  std::unordered_set<const Value*> reached_;
  std::unordered_map<const Value*, Value*> grads_;
};

}  // namespace

std::vector<Value*> add_gradients(Model& model, Value* loss, std::span<Value* const> wrt, TypeRule standard) {
  return Differentiator(model, loss, wrt, standard).run();
}

}  // namespace mlopt
