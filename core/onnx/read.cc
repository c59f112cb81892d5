#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/onnx/io.h"
#include "core/onnx/proto.h"

namespace mlopt {
namespace {

constexpr size_t kMostSkeleton = size_t{1} << 31;  // protobuf's own limit

constexpr const char* kRenew = "check that the file was copied completely, else export the model again";

Model parse_bytes(wire::Bytes bytes, proto::Source& source, const std::function<void(wire::Bytes)>& passed) {
  if (bytes.empty()) input_error("the file is empty", source.path);
  wire::Skeleton skeleton = wire::split(bytes, wire::Message::kModel, passed);
  if (skeleton.bytes.size() >= kMostSkeleton)
    unsupported_error("the model's structure alone is larger than 2 GB", source.path,
                      "move what is large into initializers");
  source.blobs = std::move(skeleton.blobs);
  onnx::ModelProto message;
  if (!message.ParseFromString(skeleton.bytes))
    input_error("not an ONNX model, damaged, or with bodies nested more than 30 deep", source.path);
  return proto::read_message(message, source);
}

/// Does it begin as text does? No model has so many printable bytes one after another.
bool is_text(wire::Bytes bytes) {
  const auto start = bytes.first(std::min<size_t>(bytes.size(), 64));
  return !start.empty() && std::all_of(start.begin(), start.end(), [](std::byte byte) {
    const auto c = static_cast<unsigned char>(byte);
    return std::isprint(c) || std::isspace(c);
  });
}

/// `passed` is told each weight that was left where it is.
Model read_bytes(wire::Bytes bytes, std::shared_ptr<const void> owner, const std::string& path,
                 const std::string& folder, const std::function<void(wire::Bytes)>& passed = {}) {
  proto::Source source{path, folder, std::move(owner), {}, {}, {}, 0};
  try {
    Model model = parse_bytes(bytes, source, passed);
    model.file_bytes = static_cast<int64_t>(bytes.size());
    for (const auto& [location, file] : source.external) model.file_bytes += static_cast<int64_t>(file.bytes.size());
    return model;
  } catch (const Error& e) {
    if (is_text(bytes)) {
      input_error("text, not an ONNX model", path,
                  "onnx.parser of Python's onnx reads ONNX's text form; else see what was downloaded");
    }
    if (!e.where.empty() && !e.fix.empty()) throw;
    throw Error(e.code, e.message, e.where.empty() ? path : e.where, e.fix.empty() ? kRenew : e.fix);
  }
}

/// A pipe or the like, which cannot be mapped.
bool is_stream(const std::filesystem::path& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  return !failed && std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

/// No other program writes a model of more bytes into one file: what goes on beyond them is something else.
std::string read_stream(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes;
  std::vector<char> buffer(1 << 20);
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), in.gcount() > 0)
    if (bytes.append(buffer.data(), static_cast<size_t>(in.gcount())).size() > kMostSkeleton)
      unsupported_error("what is read has more than 2 GB", path.string(), "give the name of a model file");
  return bytes;
}

}  // namespace

Model read_model_bytes(std::string bytes, const std::string& folder) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return read_bytes(std::as_bytes(std::span(*owner)), owner, "", folder);
}

Model read_model(const std::string& path) {
  const std::filesystem::path file_path(path == "-" ? "/dev/stdin" : path);
  const std::string folder = path == "-" ? "." : file_path.parent_path().string();
  if (path == "-" || is_stream(file_path)) {
    const auto owner = std::make_shared<const std::string>(read_stream(file_path));
    return read_bytes(std::as_bytes(std::span(*owner)), owner, path == "-" ? "standard input" : path, folder);
  }
  const auto file = MappedFile::open(path);
  // The system may bring in megabytes around the few bytes that are looked at beside each weight.
  const auto passed = [&](wire::Bytes weight) { file->release(weight); };
  return read_bytes(file->bytes(), file, path, folder, passed);
}

}  // namespace mlopt
