#include <fmt/core.h>
#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include "core/base/text.h"
#include "core/onnx/contained.h"
#include "core/onnx/proto.h"
#include "core/onnx/tools.h"

namespace mlopt {
namespace {

constexpr int kSeconds = 20;             // for each of the two; models of 100,000 nodes take a few
constexpr size_t kShapeData = 64 << 10;  // bytes of a tensor that shapes may depend on

/// ONNX's messages in one line, without the banner.
std::string one_line(const std::string& message) {
  std::string line;
  for (const std::string& piece : split(message, '\n')) {
    const std::string_view text = trim(piece);
    if (text.empty()) continue;
    line += line.empty() ? "" : " ";
    line += text;
  }
  return line;
}

/// The message of what `check` throws, made in a process of its own; empty when it throws nothing, or came to no end.
template <class Check>
std::string message_of(std::string_view what, Findings& findings, const Check& check) {
  const auto message = run_contained(
      [&]() -> std::string {
        try {
          check();
        } catch (const std::exception& e) {
          return e.what();
        }
        return {};
      },
      kSeconds);
  if (message) return *message;
  std::string reason = fmt::format("{} could not look at the model: {}", what, message.error().reason);
  if (!message.error().late) return reason;
  findings.unseen.push_back(std::move(reason));
  return {};
}

/// Shape inference gives a line for each node, after this mark.
constexpr std::string_view kLinesFollow = "Inference error(s): ";

bool loads_all_the_same(const std::string& line, const Model& model) {
  if (line.find("Inferred shape and existing shape differ") != std::string::npos) return true;
  // Errors inside an error are of a function's body: the standard's, if the model has no functions.
  return model.functions.empty() && line.find(kLinesFollow) != std::string::npos;
}

void sort_out(const std::string& message, const Model& model, Findings& findings) {
  const size_t mark = message.find(kLinesFollow);
  if (mark == std::string::npos) {
    if (!message.empty()) findings.errors.push_back(one_line(message));
    return;
  }
  for (const std::string& line : split(message.substr(mark + kLinesFollow.size()), '\n')) {
    if (trim(line).empty()) continue;
    (loads_all_the_same(line, model) ? findings.warnings : findings.errors).emplace_back(trim(line));
  }
}

/// The checker looks at sizes of data, which the reader has compared with the shapes: one element stands in for many.
void shrink(onnx::TensorProto& tensor) {
  tensor.clear_dims();
  tensor.add_dims(1);
  const auto type = static_cast<DType>(tensor.data_type());
  tensor.set_raw_data(std::string(packed_bytes(type, 1), '\0'));
}

/// Operators that ONNX Runtime adds to the standard, in a domain that the checker does not look into.
void set_apart(onnx::GraphProto& graph, int64_t opset) {
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    if (added_to_standard(node.domain(), node.op_type(), opset)) node.set_domain("com.microsoft");
    for (onnx::AttributeProto& attribute : *node.mutable_attribute())
      if (attribute.has_g()) set_apart(*attribute.mutable_g(), opset);
  }
}

}  // namespace

Findings check_with_onnx(const Model& model) {
  Findings findings{model.mended, {}, {}};
  proto::Written written = proto::write_message(model);
  if (model.opset("com.microsoft") != 0) set_apart(*written.message.mutable_graph(), model.opset());
  const std::string message = message_of("ONNX's checker", findings, [&] {
    proto::Written small = written;
    proto::fill_in(small, 0, [](onnx::TensorProto& tensor, uint64_t) { shrink(tensor); });
    onnx::checker::check_model(small.message);
  });
  if (!message.empty()) findings.errors.push_back(one_line(message));
  const std::string shape_message = message_of("ONNX's shape inference", findings, [&] {
    proto::Written shapes = written;
    proto::fill_in(shapes, kShapeData, [](onnx::TensorProto&, uint64_t) {});
    onnx::shape_inference::InferShapes(shapes.message, onnx::OpSchemaRegistry::Instance(),
                                       onnx::ShapeInferenceOptions{true, 1, false});
  });
  sort_out(shape_message, model, findings);
  return findings;
}

}  // namespace mlopt
