#include <fmt/core.h>

#include "core/base/error.h"
#include "core/onnx/proto.h"

namespace mlopt::proto {
namespace {

using onnx::AttributeProto;

struct Kind {
  bool (*held)(const AttributeProto&);
  AttributeProto::AttributeType type;
  bool may_be_empty;  ///< zero, or a list without items, need not be written
};

constexpr Kind kKinds[] = {
    {[](const AttributeProto& a) { return a.has_f(); }, AttributeProto::FLOAT, true},
    {[](const AttributeProto& a) { return a.has_i(); }, AttributeProto::INT, true},
    {[](const AttributeProto& a) { return a.has_s(); }, AttributeProto::STRING, true},
    {[](const AttributeProto& a) { return a.has_t(); }, AttributeProto::TENSOR, false},
    {[](const AttributeProto& a) { return a.has_g(); }, AttributeProto::GRAPH, false},
    {[](const AttributeProto& a) { return a.has_sparse_tensor(); }, AttributeProto::SPARSE_TENSOR, true},
    {[](const AttributeProto& a) { return a.has_tp(); }, AttributeProto::TYPE_PROTO, false},
    {[](const AttributeProto& a) { return a.floats_size() > 0; }, AttributeProto::FLOATS, true},
    {[](const AttributeProto& a) { return a.ints_size() > 0; }, AttributeProto::INTS, true},
    {[](const AttributeProto& a) { return a.strings_size() > 0; }, AttributeProto::STRINGS, true},
    {[](const AttributeProto& a) { return a.tensors_size() > 0; }, AttributeProto::TENSORS, true},
    {[](const AttributeProto& a) { return a.graphs_size() > 0; }, AttributeProto::GRAPHS, true},
    {[](const AttributeProto& a) { return a.sparse_tensors_size() > 0; }, AttributeProto::SPARSE_TENSORS, true},
    {[](const AttributeProto& a) { return a.type_protos_size() > 0; }, AttributeProto::TYPE_PROTOS, true},
};

/// The kind of an attribute written before kinds had to be named (IR version 1), by what it holds.
int kind_by_content(const AttributeProto& a) {
  for (const Kind& kind : kKinds)
    if (kind.held(a)) return kind.type;
  return AttributeProto::UNDEFINED;
}

/// The kind that the attribute says it has; an attribute that holds only something else is not trusted.
int kind_of(const AttributeProto& a, Source& source, const std::string& where) {
  const int content = kind_by_content(a);
  if (a.type() == AttributeProto::UNDEFINED) {
    if (source.ir_version >= 2)
      source.mended.push_back(fmt::format("attribute '{}' of {} does not say its type", a.name(), where));
    return content;
  }
  for (const Kind& kind : kKinds) {
    if (kind.type != a.type() || kind.held(a)) continue;
    if (kind.may_be_empty && content == AttributeProto::UNDEFINED) continue;
    input_error(fmt::format("attribute '{}' does not hold what its type says ({})", a.name(),
                            AttributeProto::AttributeType_Name(a.type())),
                where);
  }
  return a.type();
}

/// The message without its value, for what has no place in Attr.
OpaqueAttr take_opaque(AttributeProto& a, int kind) {
  OpaqueAttr opaque{kind, a.SerializeAsString()};
  a.Clear();
  return opaque;
}

AttrValue take_value(AttributeProto& a, int kind, Source& source,
                     const std::function<GraphPtr(onnx::GraphProto&)>& read_body) {
  switch (kind) {
    case AttributeProto::FLOAT:
      return a.f();
    case AttributeProto::INT:
      return a.i();
    case AttributeProto::STRING:
      return a.s();
    case AttributeProto::FLOATS:
      return std::vector<float>(a.floats().begin(), a.floats().end());
    case AttributeProto::INTS:
      return std::vector<int64_t>(a.ints().begin(), a.ints().end());
    case AttributeProto::STRINGS:
      return std::vector<std::string>(a.strings().begin(), a.strings().end());
    case AttributeProto::TENSOR:
      return read_tensor(a.t(), source);
    case AttributeProto::GRAPH:
      return read_body(*a.mutable_g());
    case AttributeProto::TENSORS: {
      std::vector<Tensor> tensors;
      for (const auto& tensor : a.tensors()) tensors.push_back(read_tensor(tensor, source));
      return tensors;
    }
    case AttributeProto::GRAPHS: {
      std::vector<GraphPtr> graphs;
      for (auto& graph : *a.mutable_graphs()) graphs.push_back(read_body(graph));
      return graphs;
    }
    default: {  // a type that the IR can express
      return read_type(a.tp());
    }
  }
}

void clear_value(AttributeProto& a, int kind) {
  switch (kind) {
    case AttributeProto::FLOAT:
      return a.clear_f();
    case AttributeProto::INT:
      return a.clear_i();
    case AttributeProto::STRING:
      return a.clear_s();
    case AttributeProto::FLOATS:
      return a.clear_floats();
    case AttributeProto::INTS:
      return a.clear_ints();
    case AttributeProto::STRINGS:
      return a.clear_strings();
    case AttributeProto::GRAPH:
      return a.clear_g();
    case AttributeProto::GRAPHS:
      return a.clear_graphs();
    case AttributeProto::TENSOR:
      strip(*a.mutable_t());  // a tensor may have a name and documentation of its own: they stay
      if (a.t().ByteSizeLong() == 0) a.clear_t();
      return;
    case AttributeProto::TENSORS: {
      size_t left = 0;
      for (auto& tensor : *a.mutable_tensors()) {
        strip(tensor);
        left += tensor.ByteSizeLong();
      }
      if (left == 0) a.clear_tensors();
      return;
    }
    default:
      return a.clear_tp();
  }
}

bool is_interpreted(const AttributeProto& a, int kind) {
  switch (kind) {
    case AttributeProto::UNDEFINED:
    case AttributeProto::SPARSE_TENSOR:
    case AttributeProto::SPARSE_TENSORS:
    case AttributeProto::TYPE_PROTOS:
      return false;
    case AttributeProto::TYPE_PROTO:
      return same(write_type(read_type(a.tp())), a.tp());
    default:
      return kind <= AttributeProto::TYPE_PROTOS;
  }
}

}  // namespace

Attr read_attribute(AttributeProto& a, Source& source, const std::string& where,
                    const std::function<GraphPtr(onnx::GraphProto&)>& read_body) {
  Attr attr;
  attr.name = a.name();
  if (attr.name.empty()) input_error("an attribute without a name", where);
  if (!a.ref_attr_name().empty()) {
    attr.value = RefAttr{a.ref_attr_name(), a.type()};
    a.clear_ref_attr_name();
    a.clear_type();
  } else if (const int kind = kind_of(a, source, where); !is_interpreted(a, kind)) {
    attr.value = take_opaque(a, kind);
  } else {
    attr.value = take_value(a, kind, source, read_body);
    clear_value(a, kind);
    a.clear_type();
  }
  a.clear_name();
  attr.doc = take(a, &AttributeProto::doc_string, &AttributeProto::clear_doc_string);
  attr.unknown_fields = a.SerializeAsString();
  return attr;
}

}  // namespace mlopt::proto
