#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlopt {

/// Rules "this text becomes that" as SentencePiece compiles them: a double-array trie (Aoe 1989, in the layout of
/// Darts-clone) from texts to places in a block of strings that end with a zero byte.
class CharsMap {
 public:
  /// Throws Error{kBadInput} naming `where` when the bytes are no such rules. No bytes: no rules.
  CharsMap(std::string_view bytes, std::string where);

  struct Rule {
    size_t bytes;  ///< of the text that are replaced
    std::string_view by;
  };
  /// The rule of the longest text that `text` begins with.
  std::optional<Rule> match(std::string_view text) const;

 private:
  std::vector<uint32_t> units_;
  std::string strings_, where_;
};

}  // namespace mlopt
