#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace mlopt::wire {

using Bytes = std::span<const std::byte>;

/// The messages of ONNX that can hold tensors, directly or further down.
enum class Message { kModel, kGraph, kNode, kAttribute, kFunction, kTensor };

/// A field of ours that stands in a TensorProto for data kept outside of it: the index of the data. Never in a file.
inline constexpr int kBlobField = 536870900;

/// From so many bytes on, raw data are views of the file, not copies.
inline constexpr size_t kBlobBytes = 1024;

/// A serialized message without its large raw data: where these were, the tensors hold kBlobField.
struct Skeleton {
  std::string bytes;
  std::vector<Bytes> blobs;  ///< views of the message that was split
};

/// Takes raw_data of kBlobBytes and more out of every tensor below `message`, without touching them; `passed` is told
/// of each. Throws Error{kBadInput} when the bytes are not a protobuf message.
Skeleton split(Bytes message, Message kind, const std::function<void(Bytes)>& passed = {});

/// The reverse of split(): a message whose pieces are written one after the other, the blobs straight from where they
/// are.
class Spliced {
 public:
  /// `skeleton` and what `blobs` view must outlive this.
  Spliced(const std::string& skeleton, Message kind, const std::vector<Bytes>& blobs);
  uint64_t size() const { return size_; }
  void write(const std::function<void(Bytes)>& sink) const;

 private:
  Bytes skeleton_;
  Message kind_;
  const std::vector<Bytes>& blobs_;
  std::vector<uint64_t> sizes_;  // of the nested messages, in the order of a walk, as they will be written
  uint64_t size_ = 0;
};

}  // namespace mlopt::wire
