#include "core/onnx/wire.h"

#include <optional>

#include "core/base/error.h"
#include "core/base/wire_fields.h"

namespace mlopt::wire {
namespace {

constexpr uint32_t kRawData = 9;  // of TensorProto
constexpr int kMostDepth = 100;   // as protobuf's own parser

[[noreturn]] void malformed() {
  input_error("not an ONNX model, or cut short", {}, "check that the file was downloaded or copied completely");
}

using Field = WireField;

WireFields fields_of(Bytes message) { return {message, malformed}; }

/// The message in field `number` of `parent`, if tensors can be below it. Training information and sparse tensors are
/// not walked: they are kept as they are.
std::optional<Message> child(Message parent, const Field& field) {
  if (field.type != kWireLength) return std::nullopt;
  switch (parent) {
    case Message::kModel:
      if (field.number == 7) return Message::kGraph;
      if (field.number == 25) return Message::kFunction;
      break;
    case Message::kGraph:
      if (field.number == 1) return Message::kNode;
      if (field.number == 5) return Message::kTensor;
      break;
    case Message::kNode:
      if (field.number == 5) return Message::kAttribute;
      break;
    case Message::kAttribute:
      if (field.number == 5 || field.number == 10) return Message::kTensor;
      if (field.number == 6 || field.number == 11) return Message::kGraph;
      break;
    case Message::kFunction:
      if (field.number == 7) return Message::kNode;
      if (field.number == 11) return Message::kAttribute;
      break;
    case Message::kTensor:
      break;
  }
  return std::nullopt;
}

void put_varint(std::string& out, uint64_t value) {
  while (value >= 128) {
    out.push_back(static_cast<char>(value | 128));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

uint64_t varint_size(uint64_t value) {
  uint64_t bytes = 1;
  while (value >= 128) {
    value >>= 7;
    ++bytes;
  }
  return bytes;
}

void put_tag(std::string& out, uint32_t number, uint32_t type) { put_varint(out, (uint64_t{number} << 3) | type); }

void put_bytes(std::string& out, Bytes bytes) { out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size()); }

/// Makes the skeleton of a message and of those in it.
class Splitter {
 public:
  Splitter(Skeleton& skeleton, const std::function<void(Bytes)>& passed) : blobs_(skeleton.blobs), passed_(passed) {}

  void split(Bytes message, Message kind, int depth, std::string& out) {
    if (depth > kMostDepth) input_error("bodies nested too deeply", {}, "a model may hold about 30 levels of bodies");
    WireFields fields = fields_of(message);
    for (Field field; fields.next(field);) {
      if (const auto nested = child(kind, field)) {
        std::string inner;
        split(field.payload, *nested, depth + 1, inner);
        put_tag(out, field.number, kWireLength);
        put_varint(out, inner.size());
        out += inner;
      } else if (kind == Message::kTensor && field.number == kRawData && field.payload.size() >= kBlobBytes) {
        put_tag(out, kBlobField, kWireVarint);
        put_varint(out, blobs_.size());
        blobs_.push_back(field.payload);
        if (passed_) passed_(field.payload);
      } else if (kind != Message::kTensor || field.number != kBlobField) {
        put_bytes(out, field.whole);
      }
    }
  }

 private:
  std::vector<Bytes>& blobs_;
  const std::function<void(Bytes)>& passed_;
};

bool is_blob(Message kind, const Field& field) { return kind == Message::kTensor && field.number == kBlobField; }

/// The size of a message with its blobs back in place; those of nested messages are appended to `sizes` in order.
uint64_t measure(Bytes message, Message kind, const std::vector<Bytes>& blobs, std::vector<uint64_t>& sizes) {
  uint64_t size = 0;
  WireFields fields = fields_of(message);
  for (Field field; fields.next(field);) {
    if (const auto nested = child(kind, field)) {
      const size_t place = sizes.size();
      sizes.push_back(0);
      const uint64_t inner = measure(field.payload, *nested, blobs, sizes);
      sizes[place] = inner;
      size += varint_size(uint64_t{field.number} << 3) + varint_size(inner) + inner;
    } else if (is_blob(kind, field)) {
      const uint64_t inner = blobs.at(field.varint).size();
      size += 1 + varint_size(inner) + inner;
    } else {
      size += field.whole.size();
    }
  }
  return size;
}

void emit(Bytes message, Message kind, const std::vector<Bytes>& blobs, const uint64_t*& sizes,
          const std::function<void(Bytes)>& sink) {
  const auto header = [&](uint32_t number, uint64_t size) {
    std::string text;
    put_tag(text, number, kWireLength);
    put_varint(text, size);
    sink(std::as_bytes(std::span(text)));
  };
  WireFields fields = fields_of(message);
  for (Field field; fields.next(field);) {
    if (const auto nested = child(kind, field)) {
      header(field.number, *sizes++);
      emit(field.payload, *nested, blobs, sizes, sink);
    } else if (is_blob(kind, field)) {
      header(kRawData, blobs.at(field.varint).size());
      sink(blobs.at(field.varint));
    } else {
      sink(field.whole);
    }
  }
}

}  // namespace

Skeleton split(Bytes message, Message kind, const std::function<void(Bytes)>& passed) {
  Skeleton skeleton;
  Splitter(skeleton, passed).split(message, kind, 0, skeleton.bytes);
  return skeleton;
}

Spliced::Spliced(const std::string& skeleton, Message kind, const std::vector<Bytes>& blobs)
    : skeleton_(std::as_bytes(std::span(skeleton))), kind_(kind), blobs_(blobs) {
  size_ = measure(skeleton_, kind_, blobs_, sizes_);
}

void Spliced::write(const std::function<void(Bytes)>& sink) const {
  const uint64_t* sizes = sizes_.data();
  emit(skeleton_, kind_, blobs_, sizes, sink);
}

}  // namespace mlopt::wire
