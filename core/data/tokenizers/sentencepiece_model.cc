#include "core/data/tokenizers/sentencepiece_model.h"

#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <set>

#include "core/base/error.h"
#include "core/base/printable.h"
#include "core/base/wire_fields.h"

namespace mlopt {
namespace {

[[noreturn]] void malformed() { throw Error(Code::kBadInput, ""); }

WireFields fields_of(std::span<const std::byte> message) { return {message, malformed}; }

std::string text_of(const WireField& field) {
  return {reinterpret_cast<const char*>(field.payload.data()), field.payload.size()};
}

SentencePieceModel::Piece parse_piece(std::span<const std::byte> message) {
  SentencePieceModel::Piece piece;
  WireFields fields = fields_of(message);
  for (WireField field; fields.next(field);) {
    if (field.number == 1 && field.type == kWireLength) piece.text = text_of(field);
    if (field.number == 2 && field.type == kWireFixed32) std::memcpy(&piece.score, field.payload.data(), sizeof(float));
    if (field.number == 3 && field.type == kWireVarint) {
      if (field.varint < 1 || field.varint > 6) malformed();
      piece.kind = static_cast<SentencePieceModel::Kind>(field.varint);
    }
  }
  return piece;
}

void parse_trainer(SentencePieceModel& model, std::span<const std::byte> message) {
  WireFields fields = fields_of(message);
  for (WireField field; fields.next(field);) {
    if (field.type == kWireVarint) {
      if (field.number == 3)
        model.algorithm = static_cast<SentencePieceModel::Algorithm>(std::min<uint64_t>(field.varint, 99));
      if (field.number == 24) model.space_is_suffix = field.varint != 0;
      if (field.number == 35) model.byte_fallback = field.varint != 0;
    } else if (field.type == kWireLength) {
      if (field.number == 46) model.bos_piece = text_of(field);
      if (field.number == 47) model.eos_piece = text_of(field);
      if (field.number == 48) model.pad_piece = text_of(field);
    }
  }
}

void parse_normalizer(SentencePieceModel& model, std::span<const std::byte> message) {
  WireFields fields = fields_of(message);
  for (WireField field; fields.next(field);) {
    if (field.number == 2 && field.type == kWireLength) model.charsmap = text_of(field);
    if (field.type != kWireVarint) continue;
    if (field.number == 3) model.dummy_prefix = field.varint != 0;
    if (field.number == 4) model.one_space = field.varint != 0;
    if (field.number == 5) model.escape_spaces = field.varint != 0;
  }
}

SentencePieceModel parse(std::string_view bytes) {
  SentencePieceModel model;
  WireFields fields = fields_of(std::as_bytes(std::span(bytes)));
  for (WireField field; fields.next(field);) {
    if (field.type != kWireLength) continue;
    if (field.number == 1) model.pieces.push_back(parse_piece(field.payload));
    if (field.number == 2) parse_trainer(model, field.payload);
    if (field.number == 3) parse_normalizer(model, field.payload);
  }
  return model;
}

void check_pieces(SentencePieceModel& model, const std::string& where) {
  const auto bad = [&](const std::string& what) { input_error(what, where, "fetch or train the model again"); };
  std::set<std::string_view> seen;
  int64_t unknown = 0;
  for (size_t i = 0; i < model.pieces.size(); ++i) {
    const SentencePieceModel::Piece& piece = model.pieces[i];
    if (piece.text.empty()) bad(fmt::format("piece {} of the SentencePiece model is empty", i));
    if (!std::isfinite(piece.score)) bad(fmt::format("the score of piece {} is {}", i, piece.score));
    if (!seen.insert(piece.text).second) bad(fmt::format("piece {} '{}' stands twice", i, printable(piece.text)));
    if (piece.kind != SentencePieceModel::Kind::kUnknown) continue;
    ++unknown;
    model.unknown = static_cast<int64_t>(i);
  }
  if (unknown != 1) bad(fmt::format("the SentencePiece model has {} pieces for what is unknown", unknown));
  for (int byte = 0; model.byte_fallback && byte < 256; ++byte) {
    const std::string name = fmt::format("<0x{:02X}>", byte);
    if (!model.find(name, SentencePieceModel::Kind::kByte))
      bad(fmt::format("the piece of the byte {} is missing", name));
  }
}

}  // namespace

std::optional<int64_t> SentencePieceModel::find(std::string_view text, Kind kind) const {
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].kind == kind && pieces[i].text == text) return static_cast<int64_t>(i);
  }
  return std::nullopt;
}

SentencePieceModel parse_sentencepiece_model(std::string_view bytes, const std::string& where) {
  SentencePieceModel model;
  try {
    model = parse(bytes);
  } catch (const Error&) {
    model.pieces.clear();
  }
  if (model.pieces.empty()) {
    input_error("neither a WordPiece vocabulary in UTF-8 nor a SentencePiece model, or cut short", where,
                "give BERT's vocab.txt or the .model file that SentencePiece wrote");
  }
  if (model.algorithm != SentencePieceModel::Algorithm::kUnigram &&
      model.algorithm != SentencePieceModel::Algorithm::kBpe) {
    unsupported_error("a SentencePiece model of whole words or of characters is not supported", where,
                      "train one with --model_type=unigram or bpe");
  }
  check_pieces(model, where);
  return model;
}

}  // namespace mlopt
