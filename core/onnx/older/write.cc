#include "core/onnx/older/write.h"

#include <fmt/core.h>
#include <onnx/defs/data_type_utils.h>

#include <algorithm>

#include "core/ir/infer.h"
#include "core/onnx/infer.h"
#include "core/onnx/node.h"
#include "core/onnx/older/changes.h"

namespace mlopt::proto {
namespace {

const Change* change_of(const Node& node, int64_t opset) {
  for (const Change& change : changes_of_operators())
    if (change.op == node.op && change.opset == opset) return &change;
  return nullptr;
}

/// Does the older version lack nothing but types?
bool same_form(const onnx::OpSchema& newer, const onnx::OpSchema& older) {
  const auto has = [&](const auto& attr) { return older.attributes().contains(attr.first); };
  return newer.inputs().size() == older.inputs().size() && newer.outputs().size() == older.outputs().size() &&
         newer.attributes().size() == older.attributes().size() &&
         std::all_of(newer.attributes().begin(), newer.attributes().end(), has);
}

/// Rules read inputs that the schema says are there.
bool complete(const Node& node, const onnx::OpSchema& schema) {
  for (int i = 0; i < schema.min_input(); ++i)
    if (!node.input(i) && schema.inputs()[static_cast<size_t>(i)].GetOption() != onnx::OpSchema::Optional) return false;
  return node.first_output() != nullptr;
}

std::string write_node(Node& node, int64_t from, int64_t to) {
  while (const onnx::OpSchema* newer = schema_of(NodeView(node, from))) {
    const int64_t since = newer->since_version();
    if (since <= to) return "";
    if (!complete(node, *newer)) return "it lacks inputs or outputs";
    from = since - 1;
    if (const Change* change = change_of(node, since)) {
      if (std::string why = change->undo(node); !why.empty()) return why;
      continue;
    }
    const onnx::OpSchema* older = schema_of(NodeView(node, from));
    if (older && !same_form(*newer, *older)) return fmt::format("it is another operator since opset {}", since);
  }
  return fmt::format("opset {} has no such operator", to);
}

/// Is the value of a type that the standard gives for this place? The last place may stand for any number of values.
bool allowed(const Value* value, size_t place, const std::vector<onnx::OpSchema::FormalParameter>& places) {
  if (!value || places.empty()) return true;
  const auto type = known_type(*value);
  if (!type) return true;
  const auto& types = places[std::min(place, places.size() - 1)].GetTypes();
  try {
    return types.contains(onnx::Utils::DataTypeUtils::ToType(*type));
  } catch (const std::exception&) {
    return false;  // it is no type of the standard's
  }
}

std::string wrong_type(const Node& node, int64_t opset) {
  const onnx::OpSchema* schema = schema_of(NodeView(node, opset));
  const auto wrong = [&](const std::vector<Value*>& values, const auto& places) -> const Value* {
    for (size_t i = 0; i < values.size(); ++i)
      if (!allowed(values[i], i, places)) return values[i];
    return nullptr;
  };
  const Value* value = wrong(node.inputs(), schema->inputs());
  if (!value) value = wrong(node.outputs(), schema->outputs());
  return value ? fmt::format("opset {} does not have it for {}", opset, to_string(value->type)) : "";
}

}  // namespace

bool known_down_to(const Node& node, int64_t from, int64_t to) {
  while (const onnx::OpSchema* newer = schema_of(NodeView(node, from))) {
    if (newer->since_version() <= to) return true;
    from = newer->since_version() - 1;
    const onnx::OpSchema* older = schema_of(NodeView(node, from));
    const bool undone = change_of(node, from + 1) != nullptr;
    if (!older || (!undone && !same_form(*newer, *older))) return undone;  // by other operators where there was none
  }
  return false;
}

std::string write_in_older(Model& model, int64_t opset) {
  infer(model, standard_types);
  for (Node* node : all_nodes(*model.graph)) {
    if (!node->domain.empty()) continue;
    const std::string label = node->label();
    std::string why = write_node(*node, model.opset(), opset);
    if (why.empty()) why = wrong_type(*node, opset);
    if (!why.empty()) return fmt::format("{}: {}", label, why);
  }
  model.set_opset("", opset);
  return "";
}

}  // namespace mlopt::proto
