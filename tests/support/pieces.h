#pragma once
#include <cstring>
#include <string>

#include "tests/support/message.h"

namespace mlopt::test {

/// A piece of a SentencePiece model. Kinds: 1 normal, 2 unknown, 3 control, 4 a user's, 5 unused, 6 a byte.
inline std::string piece(const std::string& text, float score, int kind = 1) {
  std::string bits(sizeof(score), '\0');
  std::memcpy(bits.data(), &score, sizeof(score));
  return bytes(1,
               bytes(1, text) + varint(2 << 3 | 5) + bits + (kind == 1 ? "" : number(3, static_cast<uint64_t>(kind))));
}
inline std::string unknown_piece() { return piece("<unk>", 0, 2); }
/// The specs that follow the pieces: of training (1 unigram, 2 BPE) and of normalization.
inline std::string trainer(uint64_t algorithm, const std::string& more = {}) {
  return bytes(2, number(3, algorithm) + more);
}
/// No space before the text, and spaces as they are.
inline std::string plain_text() { return bytes(3, number(3, 0) + number(4, 0)); }

}  // namespace mlopt::test
