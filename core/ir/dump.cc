#include "core/ir/dump.h"

#include <fmt/core.h>

#include "core/tensor/cast.h"

namespace mlopt {
namespace {

constexpr size_t kMostShown = 8;  // elements of a list or a tensor

template <class T>
std::string list(const std::vector<T>& values, const char* format) {
  std::string text = "[";
  for (size_t i = 0; i < values.size() && i < kMostShown; ++i) {
    if (i) text += ',';
    text += fmt::format(fmt::runtime(format), values[i]);
  }
  return text + (values.size() > kMostShown ? ",...]" : "]");
}

std::string tensor_text(const Tensor& t) {
  std::string type = to_string(Type::tensor(t.dtype(), t.dims()));
  if (t.size() > static_cast<int64_t>(kMostShown) || is_complex(t.dtype())) return type;
  if (t.dtype() == DType::kString) return type + list(t.strings(), "'{}'");
  return type + list(to_doubles(t), "{:g}");
}

struct Shown {
  std::string operator()(int64_t v) const { return fmt::format("{}", v); }
  std::string operator()(float v) const { return fmt::format("{:g}", v); }
  std::string operator()(const std::string& v) const { return fmt::format("'{}'", v); }
  std::string operator()(const std::vector<int64_t>& v) const { return list(v, "{}"); }
  std::string operator()(const std::vector<float>& v) const { return list(v, "{:g}"); }
  std::string operator()(const std::vector<std::string>& v) const { return list(v, "'{}'"); }
  std::string operator()(const Tensor& v) const { return tensor_text(v); }
  std::string operator()(const std::vector<Tensor>& v) const { return fmt::format("{} tensors", v.size()); }
  std::string operator()(const GraphPtr&) const { return "body"; }
  std::string operator()(const std::vector<GraphPtr>& v) const { return fmt::format("{} bodies", v.size()); }
  std::string operator()(const Type& v) const { return to_string(v); }
  std::string operator()(const OpaqueAttr& v) const { return fmt::format("{} bytes", v.bytes.size()); }
  std::string operator()(const RefAttr& v) const { return "@" + v.name; }
};

std::string typed(const Value* value) {
  if (!value) return "_";
  const std::string type = to_string(value->type);
  return type == "?" ? "%" + value->name : fmt::format("%{}:{}", value->name, type);
}

template <class Print>
std::string joined(const std::vector<Value*>& values, const Print& print) {
  std::string text;
  for (const Value* value : values) text += (text.empty() ? "" : ", ") + print(value);
  return text;
}

void dump_node(const Node& node, const std::string& indent, std::string& out);

void dump_body(const Graph& graph, const std::string& indent, std::string& out) {
  for (const Value* value : graph.initializers())
    if (!value->is_input) out += fmt::format("{}%{} = {}\n", indent, value->name, tensor_text(*value->constant));
  for (const Node* node : graph.nodes()) dump_node(*node, indent, out);
}

std::string signature(const Graph& graph) {
  const auto plain = [](const Value* value) { return "%" + value->name; };
  return fmt::format("({}) -> ({})", joined(graph.inputs(), typed), joined(graph.outputs(), plain));
}

void dump_node(const Node& node, const std::string& indent, std::string& out) {
  out += fmt::format("{}{} = {}{}", indent, joined(node.outputs(), typed), node.domain.empty() ? "" : node.domain + ".",
                     node.op);
  std::string attrs;
  for (const Attr& attr : node.attrs)
    attrs += fmt::format("{}{}={}", attrs.empty() ? "" : ", ", attr.name, std::visit(Shown{}, attr.value));
  if (!attrs.empty()) out += "<" + attrs + ">";
  const auto plain = [](const Value* value) { return value ? "%" + value->name : std::string("_"); };
  out += "(" + joined(node.inputs(), plain) + ")";
  if (!node.name.empty()) out += " '" + node.name + "'";
  out += '\n';
  for (const Graph* body : node.bodies()) {
    out += fmt::format("{}  body {}\n", indent, signature(*body));
    dump_body(*body, indent + "    ", out);
  }
}

}  // namespace

std::string dump(const Graph& graph) {
  std::string out = signature(graph) + "\n";
  dump_body(graph, "  ", out);
  return out;
}

}  // namespace mlopt
