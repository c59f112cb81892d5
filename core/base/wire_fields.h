#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace mlopt {

/// How protobuf encodes the value of a field.
enum WireType : uint32_t { kWireVarint = 0, kWireFixed64 = 1, kWireLength = 2, kWireGroup = 3, kWireFixed32 = 5 };

/// One field of a serialized protobuf message.
struct WireField {
  uint32_t number = 0, type = 0;
  uint64_t varint = 0;                        ///< of kWireVarint
  std::span<const std::byte> whole, payload;  ///< with its tag; the bytes of the value of the other types but groups
};

/// Walks the fields of one serialized message, which must outlive this.
class WireFields {
 public:
  /// `malformed` throws an Error that says what the bytes are not.
  WireFields(std::span<const std::byte> message, void (*malformed)()) : rest_(message), malformed_(malformed) {}

  /// False at the end.
  bool next(WireField& field);

 private:
  uint64_t varint();
  std::span<const std::byte> take(uint64_t count);
  void skip(WireField& field, int depth);
  void skip_group(uint32_t number, int depth);
  [[noreturn]] void malformed() const;

  std::span<const std::byte> rest_;
  void (*malformed_)();
};

}  // namespace mlopt
