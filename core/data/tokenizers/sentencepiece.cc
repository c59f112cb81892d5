#include "core/data/tokenizers/sentencepiece.h"

#include <fmt/core.h>

#include <memory>

#include "core/base/error.h"
#include "core/data/tokenizers/segmentation.h"
#include "core/data/tokenizers/sentencepiece_normalizer.h"

namespace mlopt {
namespace {

using Kind = SentencePieceModel::Kind;
using Id = std::optional<int64_t>;

/// What encoding needs, in one place that does not move.
struct Parts {
  Parts(SentencePieceModel from, const std::string& where)
      : model(std::move(from)), index(model), normalizer(model, index.symbols, where) {
    for (int byte = 0; model.byte_fallback && byte < 256; ++byte)
      bytes.push_back(*model.find(fmt::format("<0x{:02X}>", byte), Kind::kByte));
  }

  std::vector<int64_t> encode(std::string_view text) const {
    const std::string normal = normalizer.normalize(text);
    const bool unigram = model.algorithm == SentencePieceModel::Algorithm::kUnigram;
    std::vector<int64_t> ids;
    bool after_unknown = false;
    for (const Segment& segment : unigram ? unigram_segments(index, normal) : bpe_segments(index, normal)) {
      const bool unknown = segment.id == model.unknown;
      if (unknown && model.byte_fallback) {
        for (const char c : segment.text) ids.push_back(bytes[static_cast<unsigned char>(c)]);
      } else if (!unknown || !after_unknown) {  // of neighbours that are unknown one stays
        ids.push_back(segment.id);
      }
      after_unknown = unknown;
    }
    return ids;
  }

  SentencePieceModel model;
  PieceIndex index;
  SentencePieceNormalizer normalizer;
  std::vector<int64_t> bytes;  // ids of their pieces
};

/// A control piece or a symbol of this name.
Id special(const SentencePieceModel& model, std::string_view name) {
  const Id control = model.find(name, Kind::kControl);
  return control ? control : model.find(name, Kind::kUserDefined);
}

void set_special(Tokenizer& tokenizer, const SentencePieceModel& model) {
  const Id cls = special(model, "[CLS]"), sep = special(model, "[SEP]");
  const bool as_bert = cls && sep;
  tokenizer.begin = as_bert ? cls : model.find(model.bos_piece, Kind::kControl);
  tokenizer.end = as_bert ? sep : model.find(model.eos_piece, Kind::kControl);
  tokenizer.adds_begin = tokenizer.begin.has_value();
  const bool as_llama = !as_bert && tokenizer.begin && model.algorithm == SentencePieceModel::Algorithm::kBpe;
  tokenizer.adds_end = tokenizer.end && !as_llama;
  for (const std::string& name : {model.pad_piece, std::string("<pad>"), std::string("[PAD]")}) {
    if (const Id pad = special(model, name)) {
      tokenizer.pad = *pad;
      return;
    }
  }
  tokenizer.pad = tokenizer.end.value_or(model.unknown);
}

/// Are the first pieces <unk>, <s> and </s>, without one for padding?
bool fits_fairseq(const SentencePieceModel& model) {
  return model.unknown == 0 && model.find(model.bos_piece, Kind::kControl) == 1 &&
         model.find(model.eos_piece, Kind::kControl) == 2 && !special(model, model.pad_piece);
}

IdLayout chosen_layout(const SentencePieceModel& model, std::optional<IdLayout> asked, Id table,
                       const std::string& where) {
  const bool fits = fits_fairseq(model);
  if (asked == IdLayout::kFairseq && !fits) {
    input_error("the pieces are not those that fairseq's ids are made from: <unk>, <s>, </s>, and none for padding",
                where, "leave out ids=fairseq");
  }
  if (asked) return *asked;
  // The rows of XLM-RoBERTa's table: all pieces, and one each for padding and for a mask.
  const bool rows = table == static_cast<int64_t>(model.pieces.size()) + 2;
  const bool unigram = model.algorithm == SentencePieceModel::Algorithm::kUnigram;
  return rows && unigram && fits ? IdLayout::kFairseq : IdLayout::kModel;
}

int64_t fairseq_id(int64_t id) {
  constexpr int64_t kFirst[] = {3, 0, 2};
  return id < 3 ? kFirst[id] : id + 1;
}

}  // namespace

Tokenizer sentencepiece_tokenizer(std::string_view file, const std::string& where, std::optional<IdLayout> layout,
                                  std::optional<int64_t> table) {
  const auto parts = std::make_shared<const Parts>(parse_sentencepiece_model(file, where), where);
  Tokenizer tokenizer;
  set_special(tokenizer, parts->model);
  tokenizer.size = static_cast<int64_t>(parts->model.pieces.size());
  if (chosen_layout(parts->model, layout, table, where) == IdLayout::kModel) {
    tokenizer.encode = [parts](std::string_view text) { return parts->encode(text); };
    return tokenizer;
  }
  tokenizer.encode = [parts](std::string_view text) {
    std::vector<int64_t> ids = parts->encode(text);
    for (int64_t& id : ids) id = fairseq_id(id);
    return ids;
  };
  if (tokenizer.begin) tokenizer.begin = fairseq_id(*tokenizer.begin);
  if (tokenizer.end) tokenizer.end = fairseq_id(*tokenizer.end);
  tokenizer.pad = 1;
  ++tokenizer.size;
  return tokenizer;
}

}  // namespace mlopt
