#include "core/data/tokenizers/charsmap.h"

#include <cstring>

#include "core/base/error.h"

namespace mlopt {
namespace {

// A unit: bits 0 to 7 and 31 its label, bit 8 whether a value hangs on it, from bit 10 the place of its children
// against its own, in units of 256 where bit 9 is set. The unit of a value has bit 31 set and the value below.
constexpr size_t kLongestRule = 4096;  // bytes; published ones have under 32

bool has_value(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t value(uint32_t unit) { return unit & 0x7FFFFFFFU; }
uint32_t label(uint32_t unit) { return unit & 0x800000FFU; }
uint32_t offset(uint32_t unit) { return (unit >> 10) << ((unit & (1U << 9)) >> 6); }

[[noreturn]] void damaged(const std::string& where) {
  input_error("the normalization rules of the SentencePiece model are damaged", where, "fetch the model again");
}

}  // namespace

CharsMap::CharsMap(std::string_view bytes, std::string where) : where_(std::move(where)) {
  if (bytes.empty()) return;
  uint32_t size = 0;  // of the trie
  if (bytes.size() < sizeof(size)) damaged(where_);
  std::memcpy(&size, bytes.data(), sizeof(size));
  bytes.remove_prefix(sizeof(size));
  if (size == 0 || size % sizeof(uint32_t) != 0 || size >= bytes.size() || bytes.back() != '\0') damaged(where_);
  units_.resize(size / sizeof(uint32_t));
  std::memcpy(units_.data(), bytes.data(), size);
  strings_ = bytes.substr(size);
}

std::optional<CharsMap::Rule> CharsMap::match(std::string_view text) const {
  if (units_.empty()) return std::nullopt;
  text = text.substr(0, kLongestRule);
  std::optional<Rule> longest;
  size_t at = offset(units_[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    at ^= byte;
    if (at >= units_.size() || label(units_[at]) != byte) break;
    const uint32_t unit = units_[at];
    at ^= offset(unit);
    if (!has_value(unit)) continue;
    if (at >= units_.size() || value(units_[at]) >= strings_.size()) damaged(where_);
    longest = Rule{i + 1, strings_.data() + value(units_[at])};
  }
  return longest;
}

}  // namespace mlopt
