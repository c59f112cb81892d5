#pragma once
#include <cstdint>
#include <vector>

#include "backends/reference/compute.h"

namespace mlopt::reference {

/// Sequences of one length that grow side by side.
struct TokenRows {
  std::vector<std::vector<int32_t>> tokens, masks;  ///< a mask is 0 for padding

  size_t count() const { return tokens.size(); }
  size_t length() const { return tokens[0].size(); }
};

/// BeamSearch's decoder, in GPT-2's form, and the keys and values that it keeps of the tokens behind: it takes tokens,
/// positions, a mask and the past, and gives logits and the past.
class Decoder {
 public:
  /// Fails when the body has another form.
  explicit Decoder(const Call& call);

  /// Logits [rows, vocabulary] after the last token; only what is new since the last call is computed.
  Tensor logits(const TokenRows& rows);
  /// Row i continues what row from[i] was.
  void reorder(const std::vector<int64_t>& from);

 private:
  void begin(const TokenRows& rows);
  std::vector<Datum> new_tokens(const TokenRows& rows) const;

  const Call& call_;
  int body_;
  const Graph& graph_;
  std::vector<Datum> past_;  ///< [2, rows, heads, tokens, size] each
  size_t seen_ = 0;          ///< tokens of each row that the past holds
};

}  // namespace mlopt::reference
