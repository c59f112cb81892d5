#include "core/data/tokenizers/wordpiece.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/unicode/characters.h"
#include "core/data/unicode/utf8.h"

namespace mlopt {
namespace {

using unicode::CharClass;

constexpr size_t kLongestWord = 100;  // characters; longer ones are [UNK]

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

/// Ideographs are words by themselves; Hangul, kana and what Unicode added after 2015 are not.
bool is_ideograph(char32_t c) {
  constexpr char32_t kRanges[][2] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},   {0x20000, 0x2A6DF},
                                     {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF}, {0x2F800, 0x2FA1F}};
  return c >= kRanges[0][0] &&
         std::any_of(std::begin(kRanges), std::end(kRanges), [c](const auto& r) { return c >= r[0] && c <= r[1]; });
}

/// Without controls, each space a ' ', ideographs between spaces.
std::u32string cleaned(std::string_view text) {
  std::u32string out;
  while (!text.empty()) {
    const auto [c, bytes, valid] = unicode::first_character(text);
    text.remove_prefix(bytes);
    const CharClass kind = unicode::class_of(c);
    if (kind == CharClass::kControl) continue;
    if (is_ideograph(c)) {
      out += {U' ', c, U' '};
    } else {
      out += kind == CharClass::kSpace ? U' ' : c;
    }
  }
  return out;
}

/// [UNK] and its like; <S> and <T> stand in the uncased Chinese vocabulary.
bool is_special(std::string_view token) {
  return token.size() > 2 &&
         ((token.front() == '[' && token.back() == ']') || (token.front() == '<' && token.back() == '>'));
}

class WordPiece {
 public:
  WordPiece(std::string_view vocabulary, const std::string& where) {
    for (const std::string& line : split(vocabulary, '\n')) {
      const std::string_view token = trim(line);
      if (!token.empty()) add(token);
      ++size_;
    }
    if (!vocabulary.empty() && vocabulary.back() == '\n') --size_;
    unknown_ = id("[UNK]", where);
  }

  /// The id of a special token.
  int64_t id(std::string_view token, const std::string& where) const {
    const auto found = ids_.find(token);
    if (found != ids_.end()) return found->second;
    input_error(fmt::format("the vocabulary has no token '{}'", token), where,
                "give BERT's vocab.txt, a token a line with [UNK], [CLS], [SEP] and [PAD] among them, or a "
                "SentencePiece model");
  }

  int64_t size() const { return size_; }

  std::vector<int64_t> encode(std::string_view text) const {
    std::u32string characters = cleaned(text);
    if (uncased_) {
      characters = unicode::without_accents(characters);
      for (char32_t& c : characters) c = unicode::lower(c);
    }
    std::vector<int64_t> out;
    std::u32string word;
    const auto finish = [&] {
      if (!word.empty()) put_word(out, word);
      word.clear();
    };
    for (const char32_t c : characters) {
      const bool alone = unicode::class_of(c) == CharClass::kPunctuation;
      if (alone || c == U' ') finish();
      if (c != U' ') word += c;
      if (alone) finish();
    }
    finish();
    return out;
  }

 private:
  void add(std::string_view token) {
    ids_[std::string(token)] = size_;  // of equal lines the last counts
    longest_ = std::max(longest_, token.size());
    if (is_special(token)) return;
    for (const char32_t c : unicode::decode_utf8(token)) uncased_ = uncased_ && unicode::lower(c) == c;
  }

  /// The longest entry at each place; [UNK] for the whole word when one place has none.
  void put_word(std::vector<int64_t>& out, const std::u32string& word) const {
    if (word.size() > kLongestWord) return out.push_back(unknown_);
    const size_t before = out.size();
    std::string piece;
    for (size_t at = 0; at < word.size();) {
      size_t end = std::min(word.size(), at + longest_);
      for (; end > at; --end) {
        piece = at > 0 ? "##" : "";
        piece += unicode::encode_utf8(std::u32string_view(word).substr(at, end - at));
        const auto found = ids_.find(std::string_view(piece));
        if (found == ids_.end()) continue;
        out.push_back(found->second);
        break;
      }
      if (end == at) {
        out.resize(before);
        return out.push_back(unknown_);
      }
      at = end;
    }
  }

  std::unordered_map<std::string, int64_t, TextHash, std::equal_to<>> ids_;
  int64_t size_ = 0, unknown_ = 0;
  size_t longest_ = 0;  // bytes, which are no fewer than its characters
  bool uncased_ = true;
};

}  // namespace

Tokenizer wordpiece_tokenizer(std::string_view vocabulary, const std::string& where) {
  const auto words = std::make_shared<const WordPiece>(vocabulary, where);
  Tokenizer tokenizer;
  tokenizer.encode = [words](std::string_view text) { return words->encode(text); };
  tokenizer.begin = words->id("[CLS]", where);
  tokenizer.end = words->id("[SEP]", where);
  tokenizer.adds_begin = tokenizer.adds_end = true;
  tokenizer.pad = words->id("[PAD]", where);
  tokenizer.size = words->size();
  return tokenizer;
}

}  // namespace mlopt
