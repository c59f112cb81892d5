#pragma once
#include <string>
#include <string_view>

#include "core/data/tokenizer.h"

namespace mlopt {

/// The tokenizer of a SentencePiece .model file, as the SentencePiece library segments. Around a text go the pieces
/// [CLS] and [SEP] where the model has both (ALBERT, DeBERTa); else the control pieces for the begin and the end that
/// it has (T5 has only </s>), of a BPE model with both only that for the begin (Llama). Padding is the model's own,
/// else the token for the end, else the unknown one. `layout` and `table` as of open_tokenizer().
Tokenizer sentencepiece_tokenizer(std::string_view file, const std::string& where, std::optional<IdLayout> layout,
                                  std::optional<int64_t> table);

}  // namespace mlopt
