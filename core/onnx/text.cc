#include "core/base/text.h"

#include <onnx/defs/parser.h>
#include <onnx/defs/printer.h>

#include "core/base/error.h"
#include "core/onnx/io.h"
#include "core/onnx/proto.h"

namespace mlopt {
namespace {

std::string first_line(const std::string& text) { return std::string(trim(text.substr(0, text.find("\n", 1)))); }

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
  return text;
}

}  // namespace mlopt
