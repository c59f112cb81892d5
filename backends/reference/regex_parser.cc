#include "backends/reference/regex_parser.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "core/base/error.h"
#include "core/data/unicode/utf8.h"

namespace mlopt::reference {
namespace {

constexpr uint32_t kLastCode = 0x10FFFF;
constexpr size_t kMostStates = 100000;
constexpr int kMostDepth = 200;
constexpr uint32_t kMostRepeats = 1000;

/// Turns a pattern into states by recursive descent. A piece is built so that it continues at a state given beforehand,
/// hence from its end to its start.
class Parser {
 public:
  Parser(std::string_view pattern, std::vector<RegexState>& states)
      : pattern_(pattern), text_(unicode::code_points(pattern)), states_(states) {}

  int parse() {
    const Builder whole = alternatives(0);
    if (at_ < text_.size()) bad("an unmatched )");
    return whole(add({RegexState::Kind::kMatch}));
  }

 private:
  /// Adds the states of a piece in front of `next`; gives the first of them.
  using Builder = std::function<int(int next)>;
  using Range = RegexState::Range;

  [[noreturn]] void bad(std::string_view what) const {
    input_error(fmt::format("the pattern '{}' has {}", pattern_, what));
  }
  bool more() const { return at_ < text_.size(); }
  bool take(char c) {
    const bool found = more() && text_[at_] == static_cast<uint32_t>(c);
    at_ += found ? 1 : 0;
    return found;
  }
  uint32_t next_code() {
    if (!more()) bad("an unfinished end");
    return text_[at_++];
  }

  int add(RegexState state) {
    if (states_.size() >= kMostStates) bad("too many states");
    states_.push_back(std::move(state));
    return static_cast<int>(states_.size()) - 1;
  }

  Builder alternatives(int depth) {
    if (depth > kMostDepth) bad("too many nested groups");
    std::vector<Builder> ways{sequence(depth)};
    while (take('|')) ways.push_back(sequence(depth));
    return [this, ways](int next) {
      int first = ways.back()(next);
      for (size_t i = ways.size() - 1; i-- > 0;) {
        const int way = ways[i](next);
        first = add({RegexState::Kind::kSplit, {}, false, way, first});
      }
      return first;
    };
  }

  Builder sequence(int depth) {
    std::vector<Builder> pieces;
    while (more() && text_[at_] != '|' && text_[at_] != ')') pieces.push_back(repeated(piece(depth)));
    return [pieces](int next) {
      for (auto it = pieces.rbegin(); it != pieces.rend(); ++it) next = (*it)(next);
      return next;
    };
  }

  Builder repeated(const Builder& once) {
    uint32_t least = 0, most = kMostRepeats + 1;  // above kMostRepeats: without end
    if (!repeat(least, most)) return once;
    take('?');  // lazy or not, the whole text is matched or it is not
    uint32_t again = 0;
    if (repeat(again, again)) bad("a repeat of a repeat");
    return times(once, least, most);
  }

  bool repeat(uint32_t& least, uint32_t& most) {
    if (take('*')) return true;
    if (take('+')) {
      least = 1;
      return true;
    }
    if (take('?')) {
      most = 1;
      return true;
    }
    return counts(least, most);
  }

  /// {n}, {n,} or {n,m}; anything else with a brace is a literal.
  bool counts(uint32_t& least, uint32_t& most) {
    const size_t begin = at_;
    const auto number = [&](uint32_t& value) {
      const size_t first = at_;
      for (value = 0; more() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
        value = std::min(value * 10 + (text_[at_] - '0'), kMostRepeats + 1);
      return at_ > first;
    };
    uint32_t low = 0, high = kMostRepeats + 1;
    bool good = take('{') && number(low);
    if (good && !take(','))
      high = low;
    else if (good && more() && text_[at_] != '}')
      good = number(high);
    if (!good || !take('}')) {
      at_ = begin;
      return false;
    }
    if (low > kMostRepeats || (high <= kMostRepeats && high < low)) bad("an impossible repeat");
    least = low;
    most = high;
    return true;
  }

  Builder times(const Builder& once, uint32_t least, uint32_t most) {
    return [this, once, least, most](int next) {
      if (most > kMostRepeats) {
        const int loop = add({RegexState::Kind::kSplit, {}, false, -1, next});
        const int body = once(loop);
        states_[static_cast<size_t>(loop)].next = body;
        next = loop;
      } else {
        const int end = next;
        for (uint32_t i = least; i < most; ++i) {
          const int body = once(next);
          next = add({RegexState::Kind::kSplit, {}, false, body, end});
        }
      }
      for (uint32_t i = 0; i < least; ++i) next = once(next);
      return next;
    };
  }

  Builder single(const RegexState& state) {
    return [this, state](int next) {
      RegexState copy = state;
      copy.next = next;
      return add(std::move(copy));
    };
  }
  Builder one_of(std::vector<Range> set, bool negated = false) {
    return single({RegexState::Kind::kSet, std::move(set), negated});
  }

  Builder piece(int depth) {
    const uint32_t c = next_code();
    if (c == '(') return group(depth);
    if (c == '[') return bracket();
    if (c == '.') return one_of({{'\n', '\n'}}, true);
    if (c == '^') return single({RegexState::Kind::kBegin});
    if (c == '$') return single({RegexState::Kind::kEnd});
    if (c == '*' || c == '+' || c == '?') bad("a repeat of nothing");
    if (c != '\\') return one_of({{c, c}});
    if (take('b')) return single({RegexState::Kind::kWordEdge});
    if (take('B')) return single({RegexState::Kind::kNotWordEdge});
    if (take('A')) return single({RegexState::Kind::kBegin});
    if (take('z')) return single({RegexState::Kind::kEnd});
    std::vector<Range> set;
    const bool negated = escape(set);
    return one_of(std::move(set), negated);
  }

  Builder group(int depth) {
    if (take('?')) {
      if (take('P') || (more() && text_[at_] == '<')) {
        if (!take('<')) bad("an unknown group");
        while (next_code() != '>') {
        }
      } else if (!take(':')) {
        unsupported_error(fmt::format("the pattern '{}' has flags or look-around, which are not supported", pattern_));
      }
    }
    Builder inside = alternatives(depth + 1);
    if (!take(')')) bad("an unmatched (");
    return inside;
  }

  /// What stands behind a backslash; true when the set is what must not be.
  bool escape(std::vector<Range>& set) {
    static constexpr std::string_view kFrom = "nrtfva", kTo = "\n\r\t\f\v\a";
    const uint32_t c = next_code();
    const uint32_t lower = c | 0x20U;
    if (lower == 'd')
      set.push_back({'0', '9'});
    else if (lower == 'w')
      set.insert(set.end(), {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
    else if (lower == 's')
      set.insert(set.end(), {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}});
    else {
      const size_t known = c < 128 ? kFrom.find(static_cast<char>(c)) : std::string_view::npos;
      if (c == 'x')
        set.push_back({hexadecimal(), 0});
      else if (known != std::string_view::npos)
        set.push_back({static_cast<uint32_t>(kTo[known]), 0});
      else if (is_word_code(c))
        unsupported_error(fmt::format("the pattern '{}' has an escape that is not supported", pattern_));
      else
        set.push_back({c, 0});
      set.back().second = set.back().first;
      return false;
    }
    return c != lower;
  }

  uint32_t hexadecimal() {
    const auto digit = [](uint32_t c) -> int {
      if (c >= '0' && c <= '9') return static_cast<int>(c) - '0';
      const uint32_t lower = c | 0x20U;
      return lower >= 'a' && lower <= 'f' ? static_cast<int>(lower) - 'a' + 10 : -1;
    };
    const bool braces = take('{');
    uint32_t code = 0;
    for (int i = 0; braces ? !take('}') : i < 2; ++i) {
      const int value = digit(next_code());
      if (value < 0 || i >= 6) bad("a bad \\x");
      code = code * 16 + static_cast<uint32_t>(value);
    }
    return code;
  }

  Builder bracket() {
    const bool negated = take('^');
    std::vector<Range> set;
    for (bool first = true; first || !take(']'); first = false) {
      if (more() && text_[at_] == '[' && at_ + 1 < text_.size() && text_[at_ + 1] == ':')
        unsupported_error(fmt::format("the pattern '{}' has a named class, which is not supported", pattern_));
      Range range;
      if (take('\\')) {
        std::vector<Range> escaped;
        const bool complement = escape(escaped);
        const bool is_class = complement || escaped.size() > 1 || escaped[0].first != escaped[0].second;
        if (complement)
          add_complement(escaped, set);
        else if (is_class)
          set.insert(set.end(), escaped.begin(), escaped.end());
        if (is_class) continue;
        range = escaped[0];
      } else {
        range.first = range.second = next_code();
      }
      if (more() && text_[at_] == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        ++at_;
        std::vector<Range> last;
        if (!take('\\'))
          last.push_back({next_code(), 0});
        else if (escape(last) || last.size() > 1)
          bad("a bad range");
        range.second = last[0].first;
        if (range.second < range.first) bad("a bad range");
      }
      set.push_back(range);
    }
    return one_of(std::move(set), negated);
  }

  /// `set` is sorted and without overlap.
  static void add_complement(const std::vector<Range>& set, std::vector<Range>& to) {
    uint32_t begin = 0;
    for (const Range& range : set) {
      if (range.first > begin) to.push_back({begin, range.first - 1});
      begin = range.second + 1;
    }
    to.push_back({begin, kLastCode});
  }

  std::string_view pattern_;
  std::u32string text_;
  std::vector<RegexState>& states_;
  size_t at_ = 0;
};

}  // namespace

int parse_regex(std::string_view pattern, std::vector<RegexState>& states) { return Parser(pattern, states).parse(); }

}  // namespace mlopt::reference
