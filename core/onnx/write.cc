#include <iostream>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/onnx/io.h"
#include "core/onnx/proto.h"

namespace mlopt {
namespace {

std::string serialized(const onnx::ModelProto& message) {
  std::string bytes;
  if (message.ByteSizeLong() > INT32_MAX || !message.SerializeToString(&bytes))
    unsupported_error("the model's structure alone is larger than 2 GB");
  return bytes;
}

std::vector<wire::Bytes> bytes_of(const proto::Blobs& blobs) {
  std::vector<wire::Bytes> views;
  for (const Tensor& blob : blobs) views.push_back(blob.raw_bytes());
  return views;
}

}  // namespace

void write_model(const Model& model, const std::string& path, const WriteOptions&) {
  const proto::Written written = proto::write_message(model);
  const std::string skeleton = serialized(written.message);
  const std::vector<wire::Bytes> blobs = bytes_of(written.blobs);
  const wire::Spliced spliced(skeleton, wire::Message::kModel, blobs);
  if (path == "-") {
    spliced.write([](wire::Bytes piece) {
      std::cout.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    });
    if (!std::cout.flush()) input_error("cannot write", "standard output");
    return;
  }
  AtomicFile file(path);
  spliced.write([&](wire::Bytes piece) { file.write(piece); });
  file.commit();
}

std::string write_model_bytes(const Model& model) {
  const proto::Written written = proto::write_message(model);
  const std::string skeleton = serialized(written.message);
  const std::vector<wire::Bytes> blobs = bytes_of(written.blobs);
  const wire::Spliced spliced(skeleton, wire::Message::kModel, blobs);
  std::string bytes;
  bytes.reserve(spliced.size());
  spliced.write([&](wire::Bytes piece) { bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size()); });
  return bytes;
}

}  // namespace mlopt
