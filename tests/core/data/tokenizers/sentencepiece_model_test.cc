#include "core/data/tokenizers/sentencepiece_model.h"

#include <limits>

#include "tests/support/catch.h"
#include "tests/support/pieces.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using test::bytes;
using test::number;
using test::piece;
using test::unknown_piece;

namespace {

Error refused(const std::string& file) {
  const Error error = test::thrown_by([&] { parse_sentencepiece_model(file, "m.model"); });
  CHECK(test::says(error, "m.model"));
  return error;
}

}  // namespace

TEST_CASE("a SentencePiece model is read, fields that are not known too") {
  const SentencePieceModel model = parse_sentencepiece_model(
      piece("<s>", 0, 3) + unknown_piece() + piece("a", -1.5F) + bytes(99, "new") +
          test::trainer(2, number(24, 1) + bytes(46, "<b>") + bytes(47, "<e>") + bytes(48, "<p>") + number(77, 3)) +
          bytes(3, bytes(1, "identity") + number(3, 0) + number(4, 0) + number(5, 0)),
      "m.model");
  REQUIRE(model.pieces.size() == 3);
  CHECK(model.pieces[2].text == "a");
  CHECK(model.pieces[2].score == -1.5F);
  CHECK(model.unknown == 1);
  CHECK(model.algorithm == SentencePieceModel::Algorithm::kBpe);
  CHECK((model.space_is_suffix && !model.byte_fallback && !model.dummy_prefix && !model.one_space));
  CHECK(!model.escape_spaces);
  CHECK((model.bos_piece == "<b>" && model.eos_piece == "<e>" && model.pad_piece == "<p>"));
  CHECK(model.find("<s>", SentencePieceModel::Kind::kControl) == 0);
  CHECK(!model.find("<s>", SentencePieceModel::Kind::kNormal));
}

TEST_CASE("a file that is no SentencePiece model is refused with its name") {
  const std::string good = unknown_piece() + piece("a", -1);
  CHECK(test::says(refused(""), "neither a WordPiece vocabulary in UTF-8 nor a SentencePiece model"));
  for (size_t cut = 1; cut < good.size(); ++cut) {
    const std::string part = good.substr(0, cut);
    if (part != unknown_piece()) CHECK(refused(part).code == Code::kBadInput);
  }
  CHECK(test::says(refused(piece("a", -1)), "0 pieces for what is unknown"));
  CHECK(test::says(refused(good + piece("<u>", 0, 2)), "2 pieces for what is unknown"));
  CHECK(test::says(refused(good + piece("a", -2)), "'a' stands twice"));
  CHECK(test::says(refused(good + piece("", -2)), "piece 2 of the SentencePiece model is empty"));
  CHECK(test::says(refused(good + piece("b", std::numeric_limits<float>::quiet_NaN())), "the score of piece 2"));
  CHECK(test::says(refused(good + test::trainer(1, number(35, 1))), "the piece of the byte <0x00> is missing"));
  CHECK(refused(good + piece("b", 0, 7)).code == Code::kBadInput);
  CHECK(refused(good + test::trainer(4)).code == Code::kUnsupported);
}
