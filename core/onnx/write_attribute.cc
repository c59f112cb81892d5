#include "core/onnx/proto.h"

namespace mlopt::proto {
namespace {

using onnx::AttributeProto;

/// Puts the alternative that an attribute holds into its message.
struct Writer {
  AttributeProto& out;
  Blobs& blobs;
  const std::function<void(const Graph&, onnx::GraphProto&)>& write_body;

  void operator()(int64_t v) const {
    out.set_type(AttributeProto::INT);
    out.set_i(v);
  }
  void operator()(float v) const {
    out.set_type(AttributeProto::FLOAT);
    out.set_f(v);
  }
  void operator()(const std::string& v) const {
    out.set_type(AttributeProto::STRING);
    out.set_s(v);
  }
  void operator()(const std::vector<int64_t>& v) const {
    out.set_type(AttributeProto::INTS);
    out.mutable_ints()->Assign(v.begin(), v.end());
  }
  void operator()(const std::vector<float>& v) const {
    out.set_type(AttributeProto::FLOATS);
    out.mutable_floats()->Assign(v.begin(), v.end());
  }
  void operator()(const std::vector<std::string>& v) const {
    out.set_type(AttributeProto::STRINGS);
    for (const std::string& text : v) out.add_strings(text);
  }
  void operator()(const Tensor& v) const {
    out.set_type(AttributeProto::TENSOR);
    write_tensor(v, *out.mutable_t(), blobs);
  }
  void operator()(const std::vector<Tensor>& v) const {
    out.set_type(AttributeProto::TENSORS);
    if (out.tensors_size() != static_cast<int>(v.size())) out.clear_tensors();
    while (out.tensors_size() < static_cast<int>(v.size())) out.add_tensors();
    for (size_t i = 0; i < v.size(); ++i) write_tensor(v[i], *out.mutable_tensors(static_cast<int>(i)), blobs);
  }
  void operator()(const GraphPtr& v) const {
    out.set_type(AttributeProto::GRAPH);
    write_body(*v, *out.mutable_g());
  }
  void operator()(const std::vector<GraphPtr>& v) const {
    out.set_type(AttributeProto::GRAPHS);
    for (const GraphPtr& graph : v) write_body(*graph, *out.add_graphs());
  }
  void operator()(const Type& v) const {
    out.set_type(AttributeProto::TYPE_PROTO);
    *out.mutable_tp() = write_type(v);
  }
  void operator()(const OpaqueAttr& v) const { out.ParseFromString(v.bytes); }
  void operator()(const RefAttr& v) const {
    out.set_ref_attr_name(v.name);
    out.set_type(static_cast<AttributeProto::AttributeType>(v.kind));
  }
};

}  // namespace

void write_attribute(const Attr& attr, AttributeProto& out, Blobs& blobs,
                     const std::function<void(const Graph&, onnx::GraphProto&)>& write_body) {
  out.ParseFromString(attr.unknown_fields);
  // The value may have changed since the residue was kept.
  if (!std::holds_alternative<Tensor>(attr.value)) out.clear_t();
  if (!std::holds_alternative<std::vector<Tensor>>(attr.value)) out.clear_tensors();
  std::visit(Writer{out, blobs, write_body}, attr.value);
  out.set_name(attr.name);
  if (!attr.doc.empty()) out.set_doc_string(attr.doc);
}

}  // namespace mlopt::proto
