#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/onnx/proto.h"

namespace mlopt::proto {

/// The large data of a model in a file beside it: what lies where. Data that tensors share are there once.
class ExternalFile {
 public:
  explicit ExternalFile(const Written& written);

  /// NAME.onnx.data, or NAME.onnx.1.data, ... : the first that does not exist or has the very same content. A file that
  /// the model at `path` uses is so never overwritten before that model is.
  std::string choose_name(const std::string& path) const;
  /// Does the file have exactly this content?
  bool is_at(const std::string& path) const;
  /// Makes the tensors of the message refer to the file.
  void refer(Written& written, const std::string& name) const;
  void write(const std::function<void(wire::Bytes)>& sink) const;
  uint64_t size() const { return size_; }

 private:
  std::vector<uint64_t> offsets_;  // of each blob
  std::vector<size_t> order_;      // blobs that are written, by offset
  Blobs blobs_;
  uint64_t size_ = 0;
};

/// Data files that belong to the model at `path` by their name, and that it uses; none where there is no such model.
std::vector<std::string> owned_data_files(const std::string& path);
/// Removes those of `files` that neither the model at `path` nor another of its folder uses, but for those in `kept`.
void remove_unused(const std::vector<std::string>& files, const std::string& path,
                   const std::vector<std::string>& kept);

}  // namespace mlopt::proto
