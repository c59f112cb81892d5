#pragma once
#include <string>
#include <string_view>

#include "core/data/tokenizer.h"

namespace mlopt {

/// WordPiece as BERT does it (Devlin et al. 2018): words between spaces and punctuation, each cut greedily into the
/// longest entries of the vocabulary (a token a line; inside a word they begin with ##). Without an entry that has an
/// upper-case letter the vocabulary is uncased: texts lose case and accents. Throws Error{kBadInput} where [UNK],
/// [CLS], [SEP] or [PAD] is missing.
Tokenizer wordpiece_tokenizer(std::string_view vocabulary, const std::string& where);

}  // namespace mlopt
