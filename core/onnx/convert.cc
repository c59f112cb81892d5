#include <fmt/core.h>
#include <onnx/version_converter/convert.h>

#include <unordered_map>

#include "core/base/error.h"
#include "core/onnx/contained.h"
#include "core/onnx/proto.h"
#include "core/onnx/tools.h"

namespace mlopt {
namespace {

constexpr int kSeconds = 60;
constexpr size_t kShapeData = 64 << 10;  // bytes of a tensor that a conversion may look at

/// Large data go through the converter as external data of a name that leads back to them.
std::string stand_in(uint64_t index) { return fmt::format("blob {}", index); }

onnx::ModelProto converted(const Model& model, int64_t opset, proto::Source& source) {
  proto::Written written = proto::write_message(model);
  written.message.clear_functions();  // they have opsets of their own
  proto::fill_in(written, kShapeData, [&](onnx::TensorProto& tensor, uint64_t index) {
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    auto* entry = tensor.add_external_data();
    entry->set_key("location");
    entry->set_value(stand_in(index));
    const auto blob = std::make_shared<const Tensor>(written.blobs.at(index));
    source.external[stand_in(index)] = {blob->raw_bytes(), blob};
  });
  const auto fail = [&](const std::string& why) {
    unsupported_error(fmt::format("cannot convert opset {} to {}: {}", model.opset(), opset, why), model.path,
                      "choose an opset nearer to the model's");
  };
  // The first character tells the message from a reason why there is none.
  const auto result = run_contained(
      [&]() -> std::string {
        try {
          return "=" +
                 onnx::version_conversion::ConvertVersion(written.message, static_cast<int>(opset)).SerializeAsString();
        } catch (const std::exception& e) {
          return std::string("!") + e.what();
        }
      },
      kSeconds);
  if (!result) fail(result.error().reason);
  onnx::ModelProto message;
  if (result->front() != '=') fail(result->substr(1));
  if (!message.ParseFromString(result->substr(1))) fail("the result is damaged");
  return message;
}

void copy_value_notes(const Graph& from, Graph& to) {
  for (Value* value : to.values()) {
    const Value* old = from.find(value->name);
    value->declared = old && old->declared;
    if (!old) continue;
    value->doc = old->doc;
    value->metadata = old->metadata;
    value->unknown_fields = old->unknown_fields;
    if (old->type.kind != Type::Kind::kUnknown) value->type = old->type;
  }
}

/// The converter drops what it does not need: names, documentation and metadata of what is still there are put back.
void copy_notes(const Graph& from, Graph& to) {
  to.name = from.name;
  to.doc = from.doc;
  to.metadata = from.metadata;
  to.unknown_fields = from.unknown_fields;
  copy_value_notes(from, to);
  for (Node* node : to.nodes()) {
    const Value* output = node->outputs().empty() ? nullptr : node->output(0);
    const Value* old_output = output ? from.find(output->name) : nullptr;
    const Node* old = old_output ? old_output->producer : nullptr;
    if (!old || old->op != node->op || old->domain != node->domain) continue;
    node->name = old->name;
    node->overload = old->overload;
    node->doc = old->doc;
    node->metadata = old->metadata;
    node->unknown_fields = old->unknown_fields;
    const std::vector<Graph*> bodies = node->bodies(), old_bodies = old->bodies();
    for (size_t i = 0; i < bodies.size() && i < old_bodies.size(); ++i) copy_notes(*old_bodies[i], *bodies[i]);
  }
}

}  // namespace

Model convert_opset(const Model& model, int64_t opset) {
  if (opset < 1 || opset > newest_opset())
    usage_error(fmt::format("there is no opset {}", opset), {}, fmt::format("choose one from 1 to {}", newest_opset()));
  Model result = clone(model);
  if (model.opset() == opset) return result;
  proto::Source source;
  source.path = model.path;
  onnx::ModelProto message = converted(model, opset, source);
  Model read = proto::read_message(message, source);
  copy_notes(*model.graph, *read.graph);
  result.graph = std::move(read.graph);
  result.set_opset("", opset);
  result.ir_version = std::max(result.ir_version, ir_version_for(opset));
  return result;
}

}  // namespace mlopt
