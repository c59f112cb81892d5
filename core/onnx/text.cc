#include <onnx/defs/parser.h>
#include <onnx/defs/printer.h>

#include "core/base/error.h"
#include "core/onnx/io.h"
#include "core/onnx/proto.h"

namespace mlopt {

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
  return onnx::ProtoToString(message);
}

}  // namespace mlopt
