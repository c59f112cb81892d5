#include "core/data/tokenizers/sentencepiece_normalizer.h"

#include "tests/support/catch.h"

using namespace mlopt;

namespace {

/// U+2581 is shown as an underscore.
std::string normalized(const SentencePieceModel& model, const std::string& text,
                       std::vector<std::pair<std::string_view, int64_t>> symbols = {}) {
  const PieceTree tree(std::move(symbols));
  std::string out = SentencePieceNormalizer(model, tree, "m.model").normalize(text);
  for (size_t at; (at = out.find("\xe2\x96\x81")) != std::string::npos;) out.replace(at, 3, "_");
  return out;
}

}  // namespace

TEST_CASE("spaces are joined, written as U+2581, and put before the text") {
  const SentencePieceModel usual;
  CHECK(normalized(usual, "  two  words ") == "_two_words");
  CHECK(normalized(usual, "").empty());
  CHECK(normalized(usual, "   ").empty());
  CHECK(normalized(usual, "a\tb") == "_a\tb");  // without rules only ' ' is a space
  CHECK(normalized(usual,
                   "a\xff"
                   "b") ==
        "_a\xef\xbf\xbd"
        "b");
  CHECK(normalized(usual, "a b\xe2\x96\x81") == "_a_b");
}

TEST_CASE("the model's switches are obeyed") {
  CHECK(normalized({.one_space = false}, "  a  b ") == "___a__b_");
  CHECK(normalized({.dummy_prefix = false}, " a b ") == "a_b");
  CHECK(normalized({.space_is_suffix = true}, "a b") == "a_b_");
  CHECK(normalized({.escape_spaces = false}, "a  b ") == " a b");
}

TEST_CASE("a user's symbol is left as it is") { CHECK(normalized({}, "a  b  c", {{"  b ", 0}}) == "_a__b_c"); }
