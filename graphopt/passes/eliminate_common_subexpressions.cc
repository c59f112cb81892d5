// Two nodes with one operator, attributes and inputs -> one node.
#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/ir/constant.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

/// Runtimes look for a pair of their own at each quantized operator.
constexpr std::string_view kNever[] = {"QuantizeLinear", "DequantizeLinear"};

/// Attributes whose default is the same in every operator of the standard: spelling it out changes nothing.
struct Usual {
  std::string_view name;
  int64_t value;
};
constexpr Usual kUsual[] = {
    {"keepdims", 1}, {"noop_with_empty_axes", 0}, {"allowzero", 0}, {"saturate", 1}, {"transA", 0}, {"transB", 0}};

bool is_usual(const Attr& attr, const Node& node) {
  const auto* value = std::get_if<int64_t>(&attr.value);
  return value && node.domain.empty() && std::any_of(std::begin(kUsual), std::end(kUsual), [&](const Usual& u) {
           return u.name == attr.name && u.value == *value;
         });
}

void append(std::string& key, const void* data, size_t bytes) {
  key.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  key.append(static_cast<const char*>(data), bytes);
}

/// The attribute's value as bytes; false for what is not compared (bodies, what we do not interpret, large tensors).
bool append_attr(std::string& key, const Attr& attr) {
  append(key, attr.name.data(), attr.name.size());
  key += static_cast<char>(attr.value.index());
  return std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, float>)
          append(key, &v, sizeof v);
        else if constexpr (std::is_same_v<T, std::string>)
          append(key, v.data(), v.size());
        else if constexpr (std::is_same_v<T, std::vector<int64_t>> || std::is_same_v<T, std::vector<float>>)
          append(key, v.data(), v.size() * sizeof(v[0]));
        else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          key += std::to_string(v.size());
          for (const std::string& s : v) append(key, s.data(), s.size());
        } else if constexpr (std::is_same_v<T, Tensor>) {
          if (v.dtype() == DType::kString || v.bytes() > 4096) return false;
          key += to_string(v.dims()) + std::to_string(static_cast<int>(v.dtype()));
          append(key, v.raw(), v.bytes());
        } else
          return false;
        return true;
      },
      attr.value);
}

/// Small constants are the same where their elements are, and axes where they count from the other end.
void append_constant(std::string& key, const Tensor& t, const Node& node, size_t input) {
  key += to_string(t.dims()) + std::to_string(static_cast<int>(t.dtype()));
  const Value* x = node.input(0);
  const bool axes = input == 1 && node.domain.empty() && node.op.starts_with("Reduce") && x && x->type.dims;
  if (!axes || t.dtype() != DType::kI64) return append(key, t.raw(), t.bytes());
  for (int64_t axis : to_ints(t)) {
    if (axis < 0) axis += static_cast<int64_t>(x->type.dims->size());
    append(key, &axis, sizeof axis);
  }
}

void append_input(std::string& key, const Node& node, size_t input) {
  constexpr size_t kSmall = 256;  // bytes
  const Value* v = node.inputs()[input];
  const Tensor* t = v ? v->known_constant() : nullptr;
  if (t && t->dtype() != DType::kString && t->bytes() <= kSmall) {
    key += 'c';
    return append_constant(key, *t, node, input);
  }
  const auto identity = reinterpret_cast<uintptr_t>(v);
  key += 'v';
  append(key, &identity, sizeof identity);
}

/// The same for two nodes exactly when they compute the same; empty for nodes that are never merged.
std::string key_of(const Node& node) {
  if (is_random(node) || std::find(std::begin(kNever), std::end(kNever), node.op) != std::end(kNever) ||
      !node.bodies().empty())
    return {};
  std::string key = node.domain + ":" + node.op + ":" + node.overload;
  for (size_t i = 0; i < node.inputs().size(); ++i) append_input(key, node, i);
  for (const Value* v : node.outputs()) key += v ? 'y' : 'n';
  std::vector<const Attr*> attrs;
  for (const Attr& a : node.attrs)
    if (!is_usual(a, node)) attrs.push_back(&a);
  std::sort(attrs.begin(), attrs.end(), [](const Attr* a, const Attr* b) { return a->name < b->name; });
  for (const Attr* a : attrs)
    if (!append_attr(key, *a)) return {};
  return key;
}

/// What an operator that no standard describes does at each call is not known.
bool can_replace(const Node& first, const Node& second, const Model& model) {
  if (!known_operator(second, model)) return false;
  for (size_t i = 0; i < second.outputs().size(); ++i)
    if (second.outputs()[i] && second.outputs()[i]->is_output()) return false;  // the output's name needs its own node
  return first.outputs().size() == second.outputs().size();
}

void merge(Graph& graph, const Model& model, const PassContext& context, PassTally& tally) {
  std::unordered_map<std::string, Node*> seen;
  for (Node* node : graph.nodes()) {
    for (Graph* body : node->bodies()) merge(*body, model, context, tally);
    std::string key = key_of(*node);
    if (key.empty() || !context.allows(*node)) continue;
    const auto [it, fresh] = seen.emplace(std::move(key), node);
    if (fresh || !can_replace(*it->second, *node, model)) continue;
    for (size_t i = 0; i < node->outputs().size(); ++i)
      if (node->outputs()[i]) graph.replace_uses(node->outputs()[i], it->second->outputs()[i]);
    graph.erase(node);
    ++tally.applied;
  }
}

void run(Model& model, const PassContext& context, PassTally& tally) { merge(*model.graph, model, context, tally); }

}  // namespace

const Pass eliminate_common_subexpressions = {"eliminate_common_subexpressions", "compute the same thing once", nullptr,
                                              run};

}  // namespace mlopt::graphopt
