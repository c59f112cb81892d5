#pragma once
#include <cstdint>
#include <string>

namespace mlopt::test {

/// Protobuf's wire format by hand, to write what no library would.
inline std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 128; value >>= 7) out.push_back(static_cast<char>(value | 128));
  return out + static_cast<char>(value);
}
inline std::string number(uint32_t field, uint64_t value) { return varint(field << 3) + varint(value); }
inline std::string bytes(uint32_t field, const std::string& value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}

/// The least that is a model: its graph's fields, IR version 10 and opset 21.
inline std::string model_with(const std::string& graph, const std::string& rest = {}) {
  return number(1, 10) + bytes(8, number(2, 21)) + bytes(7, graph) + rest;
}

}  // namespace mlopt::test
