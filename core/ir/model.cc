#include "core/ir/model.h"

#include <unordered_map>

#include "core/ir/clone.h"

namespace mlopt {
namespace {

using ValueMap = std::unordered_map<const Value*, Value*>;

/// `outputs`: those of the copy.
void copy_graph(const Graph& from, Graph& to, ValueMap& map, const std::vector<Value*>& outputs);

std::vector<Attr> copy_attrs(const std::vector<Attr>& attrs, std::vector<Graph*>& made) {
  std::vector<Attr> copies = attrs;
  const auto copy_body = [&](GraphPtr& g) {
    // Filled in once the node that owns it exists, so that captures resolve.
    auto body = std::make_shared<Graph>();
    made.push_back(body.get());
    g = std::move(body);
  };
  for (Attr& a : copies) {
    if (auto* one = std::get_if<GraphPtr>(&a.value)) copy_body(*one);
    if (auto* many = std::get_if<std::vector<GraphPtr>>(&a.value))
      for (GraphPtr& g : *many) copy_body(g);
  }
  return copies;
}

Value* copy_value(const Value& v, Graph& to, ValueMap& map) {
  Value* copy = v.is_input ? to.add_input(v.name, v.type) : to.add_value(v.name, v.type);
  copy->constant = v.constant;
  copy->symbolic = v.symbolic;
  copy->doc = v.doc;
  copy->metadata = v.metadata;
  copy->unknown_fields = v.unknown_fields;
  copy->declared = v.declared;
  copy->opaque = v.opaque;
  map[&v] = copy;
  return copy;
}

std::vector<Value*> mapped(const std::vector<Value*>& values, const ValueMap& map) {
  std::vector<Value*> out;
  for (Value* v : values) {
    const auto it = map.find(v);
    out.push_back(it == map.end() ? v : it->second);  // a capture from outside of what is copied stays
  }
  return out;
}

void copy_graph(const Graph& from, Graph& to, ValueMap& map, const std::vector<Value*>& outputs) {
  to.name = from.name;
  to.doc = from.doc;
  to.metadata = from.metadata;
  to.unknown_fields = from.unknown_fields;
  for (const Value* v : from.inputs()) copy_value(*v, to, map);
  for (const Value* v : from.values())
    if (!map.contains(v)) copy_value(*v, to, map);
  for (const Node* node : from.nodes()) {
    std::vector<Graph*> made;
    std::vector<Attr> attrs = copy_attrs(node->attrs, made);
    Node* copy = to.add_node(node->domain, node->op, mapped(node->inputs(), map), mapped(node->outputs(), map),
                             std::move(attrs));
    copy->name = node->name;
    copy->overload = node->overload;
    copy->doc = node->doc;
    copy->metadata = node->metadata;
    copy->unknown_fields = node->unknown_fields;
    copy->origins = node->origins;
    const std::vector<Graph*> bodies = node->bodies();
    for (size_t i = 0; i < bodies.size(); ++i) copy_graph(*bodies[i], *made[i], map, bodies[i]->outputs());
  }
  for (Value* v : mapped(outputs, map)) to.add_output(v);
}

}  // namespace

int64_t opset_in(const std::vector<OpsetImport>& opsets, std::string_view wanted) {
  if (wanted == "ai.onnx") wanted = "";
  for (const OpsetImport& import : opsets)
    if ((import.domain == "ai.onnx" ? "" : import.domain) == wanted) return import.version;
  return 0;
}

int64_t Model::opset(std::string_view wanted) const { return opset_in(opsets, wanted); }

void Model::set_opset(std::string_view wanted, int64_t version) {
  if (wanted == "ai.onnx") wanted = "";
  for (OpsetImport& import : opsets)
    if ((import.domain == "ai.onnx" ? "" : import.domain) == wanted) {
      import.version = version;
      return;
    }
  opsets.push_back({std::string(wanted), version});
}

std::unique_ptr<Graph> clone_ending_with(const Graph& graph, const std::vector<Value*>& outputs) {
  auto copy = std::make_unique<Graph>();
  ValueMap map;
  copy_graph(graph, *copy, map, outputs);
  return copy;
}

std::unique_ptr<Graph> clone(const Graph& graph) { return clone_ending_with(graph, graph.outputs()); }

Model clone(const Model& model) {
  Model copy;
  copy.ir_version = model.ir_version;
  copy.opsets = model.opsets;
  copy.producer_name = model.producer_name;
  copy.producer_version = model.producer_version;
  copy.domain = model.domain;
  copy.doc = model.doc;
  copy.model_version = model.model_version;
  copy.metadata = model.metadata;
  copy.functions = model.functions;
  for (Function& f : copy.functions) f.body = clone(*f.body);
  copy.graph = clone(*model.graph);
  copy.unknown_fields = model.unknown_fields;
  copy.path = model.path;
  copy.file_bytes = model.file_bytes;
  copy.external_files = model.external_files;
  copy.sparse = model.sparse;
  copy.mended = model.mended;
  return copy;
}

}  // namespace mlopt
