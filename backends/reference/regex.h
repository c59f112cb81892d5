#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mlopt::reference {

/// A state of the machine: reads one code point of a set, goes on without reading, or ends.
struct RegexState {
  enum class Kind { kSet, kSplit, kBegin, kEnd, kWordEdge, kNotWordEdge, kMatch };
  using Range = std::pair<uint32_t, uint32_t>;  ///< first and last code point

  Kind kind = Kind::kMatch;
  std::vector<Range> set = {};  ///< of kSet
  bool negated = false;         ///< kSet reads what is not in the set
  int next = -1, other = -1;    ///< kSplit goes both ways
};

/// A regular expression of RE2's syntax without captures, flags and Unicode classes, run as a set of states, so that
/// the time is at most pattern length x text length (Thompson 1968). Text and pattern are UTF-8.
class Regex {
 public:
  /// Throws Error{kBadInput} for a malformed pattern and Error{kUnsupported} for what is not supported.
  explicit Regex(std::string_view pattern);

  bool full_match(std::string_view text) const;

 private:
  void follow(int from, size_t place, const std::u32string& text, std::vector<int>& list,
              std::vector<size_t>& seen) const;

  std::vector<RegexState> states_;
  int start_ = 0;
};

/// A digit, an ASCII letter or the underscore.
bool is_word_code(uint32_t c);

}  // namespace mlopt::reference
