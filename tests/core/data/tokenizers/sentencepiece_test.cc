#include "core/data/tokenizers/sentencepiece.h"

#include <fmt/core.h>

#include "tests/support/catch.h"
#include "tests/support/pieces.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using test::piece;
using test::unknown_piece;
using Ids = std::vector<int64_t>;

namespace {

Tokenizer open(const std::string& file, std::optional<IdLayout> layout = {}, std::optional<int64_t> table = {}) {
  return sentencepiece_tokenizer(file, "m.model", layout, table);
}

/// "3..4 pad 0": what stands before and behind a text.
std::string specials(const Tokenizer& t) {
  return fmt::format("{}..{} pad {}", t.adds_begin ? std::to_string(*t.begin) : "",
                     t.adds_end ? std::to_string(*t.end) : "", t.pad);
}

const std::string kBegin = piece("<s>", 0, 3), kEnd = piece("</s>", 0, 3), kA = piece("a", -1);

}  // namespace

TEST_CASE("special tokens are put as the families of models want them") {
  CHECK(specials(open(piece("<pad>", 0, 3) + kEnd + unknown_piece() + kA)) == "..1 pad 0");       // T5
  CHECK(specials(open(unknown_piece() + kBegin + kEnd + kA)) == "1..2 pad 2");                    // as RoBERTa
  CHECK(specials(open(unknown_piece() + kBegin + kEnd + kA + test::trainer(2))) == "1.. pad 2");  // Llama
  CHECK(specials(open(piece("[PAD]", 0, 3) + piece("[CLS]", 0, 3) + piece("[SEP]", 0, 3) + unknown_piece() + kA)) ==
        "1..2 pad 0");  // DeBERTa
  CHECK(specials(open(unknown_piece() + kA)) == ".. pad 0");
  CHECK(specials(open(unknown_piece() + piece("<s>", -1) + kA)) == ".. pad 0");  // an ordinary piece
}

TEST_CASE("neighbours that are unknown become one id, or the pieces of their bytes") {
  const std::string start = unknown_piece() + kA + test::plain_text();
  CHECK(open(start).encode("xya\xc3\xa9z") == Ids{0, 1, 0});
  std::string bytes;
  for (int b = 0; b < 256; ++b) bytes += piece(fmt::format("<0x{:02X}>", b), 0, 6);
  const Tokenizer t = open(start + bytes + test::trainer(1, test::number(35, 1)));
  CHECK(t.encode("a\xc3\xa9") == Ids{1, 2 + 0xC3, 2 + 0xA9});
  CHECK(t.encode("<0x41>").size() == 6);  // the piece of a byte is not written so
  CHECK(t.size == 258);
}

TEST_CASE("ids are counted as XLM-RoBERTa counts them where its table says so or the user does") {
  const std::string file = unknown_piece() + kBegin + kEnd + kA + piece("b", -1) + test::plain_text();
  CHECK(open(file).encode("ab?") == Ids{3, 4, 0});
  for (const Tokenizer& t : {open(file, {}, 7), open(file, IdLayout::kFairseq)}) {
    CHECK(t.encode("ab?") == Ids{4, 5, 3});
    CHECK(specials(t) == "0..2 pad 1");
    CHECK(t.size == 6);
  }
  CHECK(open(file, IdLayout::kModel, 7).encode("ab?") == Ids{3, 4, 0});
  CHECK(open(file, {}, 8).encode("ab?") == Ids{3, 4, 0});
  CHECK(open(file + test::trainer(2), {}, 7).encode("ab?") == Ids{3, 4, 0});
  const Error error = test::thrown_by([&] { open(unknown_piece() + kA, IdLayout::kFairseq); });
  CHECK(error.code == Code::kBadInput);
  CHECK(test::says(error, "leave out ids=fairseq"));
}
