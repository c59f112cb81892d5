#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/onnx/external.h"
#include "core/onnx/io.h"
#include "core/onnx/proto.h"

namespace mlopt {
namespace {

constexpr uint64_t kMostInline = INT32_MAX;  // protobuf's limit: other programs cannot read a larger message
constexpr size_t kBuffer = 64 << 10;

std::vector<wire::Bytes> bytes_of(const proto::Blobs& blobs) {
  std::vector<wire::Bytes> views;
  for (const Tensor& blob : blobs) views.push_back(blob.raw_bytes());
  return views;
}

/// Collects small pieces, so that thousands of small fields are not as many system calls.
class Buffered {
 public:
  explicit Buffered(std::function<void(wire::Bytes)> sink) : sink_(std::move(sink)) { buffer_.reserve(kBuffer); }

  void write(wire::Bytes piece) {
    if (buffer_.size() + piece.size() > kBuffer) flush();
    if (piece.size() >= kBuffer) return sink_(piece);
    buffer_.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }

  void flush() {
    if (!buffer_.empty()) sink_(std::as_bytes(std::span(buffer_)));
    buffer_.clear();
  }

 private:
  std::function<void(wire::Bytes)> sink_;
  std::string buffer_;
};

/// A model as it will be written: its structure, and where its large data go.
class Output {
 public:
  explicit Output(const proto::Written& written) : tensors_(written.blobs), blobs_(bytes_of(tensors_)) {
    if (written.message.ByteSizeLong() > kMostInline || !written.message.SerializeToString(&skeleton_))
      unsupported_error("the model's structure alone is larger than 2 GB");
    spliced_.emplace(skeleton_, wire::Message::kModel, blobs_);
  }

  uint64_t size() const { return spliced_->size(); }

  void write(const std::function<void(wire::Bytes)>& sink) const {
    Buffered buffered(sink);
    size_t next = 0;  // blobs come in their order
    spliced_->write([&](wire::Bytes piece) {
      buffered.write(piece);
      if (next == tensors_.size() || piece.data() != blobs_[next].data()) return;
      if (piece.size() >= kBuffer) tensors_[next].release_pages();  // it may lie in a file
      ++next;
    });
    buffered.flush();
  }

 private:
  proto::Blobs tensors_;
  std::vector<wire::Bytes> blobs_;
  std::string skeleton_;
  std::optional<wire::Spliced> spliced_;
};

/// Whether the weights stay in the model's file, and throws Error{kUnsupported} where they must and are too large.
bool stays_inline(uint64_t size, const std::string& path, const WriteOptions& options) {
  if (size <= kMostInline) return !options.external.value_or(false);
  const bool alone = !takes_external(path);
  if (alone || options.external == false) {
    unsupported_error(fmt::format("{} bytes are too many for one file (2 GB)", size), path,
                      alone ? "write the model to a file" : "leave the weights in external data");
  }
  return false;
}

/// What a link leads to, where that is: data must lie beside it.
std::string behind_links(const std::string& path) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(path, failed);
  return failed || !takes_external(path) ? path : real.string();
}

void write_to_stdout(const Output& output) {
  output.write([](wire::Bytes piece) {
    std::cout.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
  });
  if (!std::cout.flush())
    input_error(fmt::format("cannot write ({})", std::strerror(errno)), "standard output",
                "is there space, and is the program that reads it still there?");
}

void write_inline(const Output& output, const std::string& path) {
  AtomicFile file(path);
  output.write([&](wire::Bytes piece) { file.write(piece); });
  file.commit();
}

void write_external(proto::Written& written, const std::string& path) {
  const proto::ExternalFile data(written);
  const std::string name = data.choose_name(path);
  data.refer(written, name);
  const std::string data_path = (std::filesystem::path(path).parent_path() / name).string();
  const Output output(written);

  std::optional<AtomicFile> data_file;  // none when the same data are there already
  if (!data.is_at(data_path)) {
    data_file.emplace(data_path);
    data.write([&](wire::Bytes piece) { data_file->write(piece); });
  }
  AtomicFile model_file(path);
  output.write([&](wire::Bytes piece) { model_file.write(piece); });
  if (data_file) data_file->commit();
  try {
    model_file.commit();
  } catch (...) {
    if (data_file) std::filesystem::remove(data_path);
    throw;
  }
}

}  // namespace

bool takes_external(const std::string& path) {
  std::error_code failed;
  return path != "-" && !std::filesystem::is_other(std::filesystem::status(path, failed));
}

void write_model(const Model& model, const std::string& target, const WriteOptions& options) {
  proto::Written written = proto::write_message(model, options.sparse);
  if (options.external.value_or(false) && !takes_external(target))
    usage_error("external data cannot lie beside standard output, a device or a pipe", target,
                "write the model to a file");
  const std::string path = behind_links(target);
  const Output output(written);
  const bool within = written.blobs.empty() || stays_inline(output.size(), path, options);
  if (path == "-") return write_to_stdout(output);
  const std::vector<std::string> old_data = proto::owned_data_files(path);
  if (within)
    write_inline(output, path);
  else
    write_external(written, path);
  proto::remove_unused(old_data, path, options.kept);
}

Draft::Draft(const Model& model, const std::string& path, const WriteOptions& options) : model_(path) {
  proto::Written written = proto::write_message(model, options.sparse);
  if (!written.blobs.empty() && !stays_inline(Output(written).size(), path, options)) {
    const proto::ExternalFile data(written);
    data_.emplace(model_.temporary() + ".data");
    data.refer(written, std::filesystem::path(data_->temporary()).filename().string());
    data.write([&](wire::Bytes piece) { data_->write(piece); });
  }
  Output(written).write([&](wire::Bytes piece) { model_.write(piece); });
}

void write_model_to(const Model& model, const std::function<void(std::span<const std::byte>)>& sink) {
  Output(proto::write_message(model)).write(sink);
}

int64_t written_size(const Model& model, const std::string& path, const WriteOptions& options) {
  proto::Written written = proto::write_message(model, options.sparse);
  const uint64_t within = Output(written).size();
  if (written.blobs.empty() || stays_inline(within, path, options)) return static_cast<int64_t>(within);
  const proto::ExternalFile data(written);
  data.refer(written, data.choose_name(behind_links(path)));
  return static_cast<int64_t>(Output(written).size() + data.size());
}

std::string write_model_bytes(const Model& model) {
  const Output output(proto::write_message(model));
  std::string bytes;
  bytes.reserve(output.size());
  output.write([&](wire::Bytes piece) { bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size()); });
  return bytes;
}

}  // namespace mlopt
