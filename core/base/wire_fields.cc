#include "core/base/wire_fields.h"

#include <cstdlib>

namespace mlopt {
namespace {

constexpr uint32_t kGroupEnd = 4;
constexpr int kMostDepth = 100;  // as protobuf's own parser

}  // namespace

void WireFields::malformed() const {
  malformed_();
  std::abort();  // it has thrown
}

bool WireFields::next(WireField& field) {
  if (rest_.empty()) return false;
  const std::span<const std::byte> start = rest_;
  const uint64_t tag = varint();
  field = {};
  field.number = static_cast<uint32_t>(tag >> 3);
  field.type = static_cast<uint32_t>(tag & 7);
  if (tag > UINT32_MAX || field.number == 0) malformed();
  skip(field, 0);
  field.whole = start.first(start.size() - rest_.size());
  return true;
}

uint64_t WireFields::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (rest_.empty()) malformed();
    const auto byte = static_cast<uint64_t>(rest_.front());
    rest_ = rest_.subspan(1);
    if (shift < 64) value |= (byte & 127) << shift;
    if (byte < 128) return value;
  }
  malformed();
}

std::span<const std::byte> WireFields::take(uint64_t count) {
  if (count > rest_.size()) malformed();
  const std::span<const std::byte> taken = rest_.first(count);
  rest_ = rest_.subspan(count);
  return taken;
}

void WireFields::skip(WireField& field, int depth) {
  switch (field.type) {
    case kWireVarint:
      field.varint = varint();
      return;
    case kWireFixed64:
      field.payload = take(8);
      return;
    case kWireFixed32:
      field.payload = take(4);
      return;
    case kWireGroup:
      return skip_group(field.number, depth);
    case kWireLength:
      field.payload = take(varint());
      return;
    default:
      malformed();
  }
}

void WireFields::skip_group(uint32_t number, int depth) {
  if (depth > kMostDepth) malformed();
  while (true) {
    const uint64_t tag = varint();
    WireField inner;
    inner.number = static_cast<uint32_t>(tag >> 3);
    inner.type = static_cast<uint32_t>(tag & 7);
    if (inner.type == kGroupEnd) {
      if (inner.number != number) malformed();
      return;
    }
    skip(inner, depth + 1);
  }
}

}  // namespace mlopt
