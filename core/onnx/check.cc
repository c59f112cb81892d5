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

/// The message of what `check` throws, made in a process of its own; nothing when it throws nothing.
template <class Check>
void collect(std::vector<std::string>& findings, std::string_view what, const Check& check) {
  const auto message = run_contained(
      [&]() -> std::string {
        try {
          check();
        } catch (const std::exception& e) {
          return one_line(e.what());
        }
        return {};
      },
      kSeconds);
  if (!message)
    findings.push_back(fmt::format("{} could not look at the model: {}", what, message.error().reason));
  else if (!message->empty())
    findings.push_back(*message);
}

/// The checker looks at sizes of data, which the reader has compared with the shapes: one element stands in for many.
void shrink(onnx::TensorProto& tensor) {
  tensor.clear_dims();
  tensor.add_dims(1);
  const auto type = static_cast<DType>(tensor.data_type());
  tensor.set_raw_data(std::string(packed_bytes(type, 1), '\0'));
}

}  // namespace

std::vector<std::string> check_with_onnx(const Model& model) {
  std::vector<std::string> findings = model.mended;
  const proto::Written written = proto::write_message(model);
  collect(findings, "ONNX's checker", [&] {
    proto::Written small = written;
    proto::fill_in(small, 0, [](onnx::TensorProto& tensor, uint64_t) { shrink(tensor); });
    onnx::checker::check_model(small.message);
  });
  collect(findings, "ONNX's shape inference", [&] {
    proto::Written shapes = written;
    proto::fill_in(shapes, kShapeData, [](onnx::TensorProto&, uint64_t) {});
    onnx::shape_inference::InferShapes(shapes.message, onnx::OpSchemaRegistry::Instance(),
                                       onnx::ShapeInferenceOptions{true, 1, false});
  });
  return findings;
}

}  // namespace mlopt
