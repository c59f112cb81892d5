#include "core/data/tokenizers/segmentation.h"

#include "tests/support/catch.h"
#include "tests/support/pieces.h"

using namespace mlopt;
using test::piece;
using test::unknown_piece;

namespace {

using Segments = std::vector<Segment> (*)(const PieceIndex&, std::string_view);

/// The text between bars where `cut` cuts it, unknown parts in parentheses.
std::string cut(Segments segments, const std::string& pieces, const std::string& text) {
  const SentencePieceModel model = parse_sentencepiece_model(unknown_piece() + pieces, "m.model");
  const PieceIndex index(model);
  std::string out;
  for (const Segment& s : segments(index, text)) {
    out += out.empty() ? "" : "|";
    out += s.id == 0 ? "(" + std::string(s.text) + ")" : std::string(s.text);
  }
  return out;
}

}  // namespace

TEST_CASE("a character's bytes are told by its first") {
  CHECK(character_bytes("a") == 1);
  CHECK(character_bytes("\xc3\xa9x") == 2);
  CHECK(character_bytes("\xe2\x82\xacx") == 3);
  CHECK(character_bytes("\xf0\x9f\x99\x82x") == 4);
  CHECK(character_bytes("\xf0\x9f") == 2);  // no more than there are
  CHECK(character_bytes("\x82") == 1);
}

TEST_CASE("unigram finds the segmentation of the highest sum") {
  const std::string pieces = piece("a", -1) + piece("b", -1) + piece("ab", -1.5F) + piece("aba", -4) + piece("c", -9);
  CHECK(cut(unigram_segments, pieces, "aba") == "ab|a");
  CHECK(cut(unigram_segments, pieces, "abab") == "ab|ab");
  CHECK(cut(unigram_segments, pieces,
            "c\xc3\xa9"
            "a") == "c|(\xc3\xa9)|a");
  CHECK(cut(unigram_segments, pieces, "").empty());
  // A user's symbol is one piece whatever the others score, an unused one is none.
  CHECK(cut(unigram_segments, pieces + piece("ba", 0, 4), "abab") == "a|ba|b");
  CHECK(cut(unigram_segments, piece("a", -1) + piece("b", -1) + piece("ab", 0, 5), "ab") == "a|b");
  CHECK(cut(unigram_segments, piece("a", -1, 5) + piece("b", -1), "ab") == "(a)|b");
}

TEST_CASE("BPE merges the pair of the highest score first, of equal ones the leftmost") {
  const std::string letters = piece("a", -9) + piece("b", -9) + piece("c", -9);
  CHECK(cut(bpe_segments, letters + piece("ab", -1) + piece("bc", -2), "abc") == "ab|c");
  CHECK(cut(bpe_segments, letters + piece("ab", -2) + piece("bc", -1), "abc") == "a|bc");
  CHECK(cut(bpe_segments, letters + piece("aa", -1), "aaaaa") == "aa|aa|a");
  CHECK(cut(bpe_segments, letters + piece("aa", -1) + piece("aaaa", -2), "aaaaa") == "aaaa|a");
  CHECK(cut(bpe_segments, letters, "ab?c") == "a|b|(?)|c");
  CHECK(cut(bpe_segments, letters, "").empty());
  CHECK(cut(bpe_segments, letters + piece("ab", -1) + piece("bc", 0, 4), "abcab") == "a|bc|ab");
  // An unused piece is a step to others: where nothing comes of it, it falls apart.
  CHECK(cut(bpe_segments, letters + piece("ab", -1, 5) + piece("abc", -2), "abcab") == "abc|a|b");
  CHECK(cut(bpe_segments, letters + piece("ab", -1, 5) + piece("abc", -2, 5), "abc") == "a|b|c");
}

TEST_CASE("long texts of one letter are cut in good time") {
  const std::string letters = piece("a", -1) + piece("aa", -1.5F) + piece("aaa", -2);
  const std::string text(200000, 'a');
  for (const Segments segments : {unigram_segments, bpe_segments}) {
    const std::string whole = cut(segments, letters, text);
    CHECK(whole.size() > text.size());
  }
}
