#include "backends/reference/beam_decoder.h"

#include <numeric>
#include <utility>

#include "backends/reference/movement.h"
#include "backends/reference/slices.h"

namespace mlopt::reference {

Decoder::Decoder(const Call& call)
    : call_(call), body_(body_index(call, "decoder")), graph_(*call.view.node().bodies()[static_cast<size_t>(body_)]) {
  require(call, graph_.inputs().size() > 3 && graph_.outputs().size() + 2 == graph_.inputs().size(),
          "the decoder must take tokens, positions, a mask and the past, and give logits and the past");
}

Tensor Decoder::logits(const TokenRows& rows) {
  if (past_.empty()) begin(rows);
  std::vector<Datum> inputs = new_tokens(rows);
  inputs.insert(inputs.end(), past_.begin(), past_.end());
  std::vector<Datum> outputs = call_.run_body(body_, inputs);
  const Tensor all = as(outputs[0].tensor(), DType::kF32);
  require(call_, all.rank() == 3 && all.dim(0) == static_cast<int64_t>(rows.count()) && all.size() > 0,
          "the decoder's logits are not [rows, tokens, vocabulary]");
  for (size_t i = 0; i < past_.size(); ++i) past_[i] = std::move(outputs[1 + i]);
  seen_ = rows.length();
  return slice_at(all, 1, all.dim(1) - 1);
}

void Decoder::reorder(const std::vector<int64_t>& from) {
  for (Datum& past : past_) {
    const Tensor& t = past.tensor();
    std::vector<std::vector<int64_t>> maps;
    for (const int64_t length : t.dims()) {
      maps.emplace_back(static_cast<size_t>(length));
      std::iota(maps.back().begin(), maps.back().end(), 0);
    }
    require(call_, maps.size() == 5 && maps[1].size() == from.size(), "the past is not [2, rows, heads, tokens, size]");
    maps[1] = from;
    ElementCodec codec(t.dtype());
    past = codec.close(gather_mapped(codec, codec.open(t), maps));
  }
}

/// A past of no tokens.
void Decoder::begin(const TokenRows& rows) {
  for (size_t i = 3; i < graph_.inputs().size(); ++i) {
    const Type& type = graph_.inputs()[i]->type;
    const bool sized = type.dims && type.dims->size() == 5 && (*type.dims)[2].value() && (*type.dims)[4].value();
    require(call_, sized, "the decoder does not declare the heads and sizes of the past");
    const SymDims& d = *type.dims;
    past_.emplace_back(Tensor(type.dtype, {2, static_cast<int64_t>(rows.count()), *d[2].value(), 0, *d[4].value()}));
  }
}

/// The new tokens, their positions, and the mask of all tokens. Padding has position 0 and is not counted.
std::vector<Datum> Decoder::new_tokens(const TokenRows& rows) const {
  std::vector<int32_t> tokens, positions, mask;
  for (size_t row = 0; row < rows.count(); ++row) {
    int32_t position = 0;
    for (size_t i = 0; i < rows.length(); ++i) {
      const int32_t counts = rows.masks[row][i];
      mask.push_back(counts);
      if (i >= seen_) {
        tokens.push_back(rows.tokens[row][i]);
        positions.push_back(counts ? position : 0);
      }
      position += counts;
    }
  }
  const auto count = static_cast<int64_t>(rows.count()), length = static_cast<int64_t>(rows.length());
  const auto input = [&](size_t i, const std::vector<int32_t>& values, int64_t columns) {
    return Datum(as(Tensor::of<int32_t>({count, columns}, values), graph_.inputs()[i]->type.dtype));
  };
  const int64_t fresh = length - static_cast<int64_t>(seen_);
  return {input(0, tokens, fresh), input(1, positions, fresh), input(2, mask, length)};
}

}  // namespace mlopt::reference
