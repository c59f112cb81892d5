#include "core/base/text.h"

#include <fmt/core.h>
#include <onnx/defs/parser.h>
#include <onnx/defs/printer.h>

#include "core/base/error.h"
#include "core/onnx/io.h"
#include "core/onnx/proto.h"

namespace mlopt {
namespace {

std::string first_line(const std::string& text) { return std::string(trim(text.substr(0, text.find('\n', 1)))); }

/// ONNX's printer leaves out the defaults of a function's attributes.
void require_defaults(const onnx::ModelProto& message, const onnx::ModelProto& again, const std::string& path) {
  for (int i = 0; i < message.functions_size(); ++i) {
    if (i < again.functions_size() &&
        again.functions(i).attribute_proto_size() == message.functions(i).attribute_proto_size())
      continue;
    unsupported_error(fmt::format("ONNX's text form cannot hold this model: function '{}' has attributes with defaults",
                                  message.functions(i).name()),
                      path, "add --inline, or write a model file");
  }
}

}  // namespace

Model parse_text(std::string_view text) {
  onnx::ModelProto message;
  const auto status = onnx::OnnxParser::Parse(message, std::string(text).c_str());
  if (!status.IsOK()) input_error("not ONNX's text form: " + status.ErrorMessage());
  proto::Source source;
  return proto::read_message(message, source);
}

std::string print_text(const Model& model) {
  onnx::ModelProto message;
  if (!message.ParseFromString(write_model_bytes(model)))
    unsupported_error("the model is too large for the text form", model.path);
  std::string text = onnx::ProtoToString(message);
  onnx::ModelProto again;
  const auto status = onnx::OnnxParser::Parse(again, text.c_str());
  if (!status.IsOK())
    unsupported_error("ONNX's text form cannot hold this model: " + first_line(status.ErrorMessage()), model.path,
                      "write a model file");
  require_defaults(message, again, model.path);
  return text;
}

}  // namespace mlopt
