#include "core/train/bucket.h"

#include <algorithm>
#include <cmath>

namespace mlopt::train {

/// This rank's code; what it does not say is kept for the next one.
void Bucket::encode() {
  const CompressionDef& kind = *compression_.kind;
  lost_.resize(values_.size());
  before_ = lost_;
  taken_ = false;
  for (size_t i = 0; i < values_.size(); ++i) lost_[i] += values_[i];
  code_.resize(kind.bytes(values_.size(), compression_.share));
  kind.encode(lost_, compression_.share, code_.data());
  std::fill(values_.begin(), values_.end(), 0.0F);
  kind.add(code_.data(), compression_.share, values_);
  for (size_t i = 0; i < values_.size(); ++i) {
    lost_[i] -= values_[i];
    if (!std::isfinite(lost_[i])) lost_[i] = 0;  // or it would be so in every code to come
  }
}

void Bucket::begin(Communicator& ranks) {
  if (!compression_.kind) {
    request_ = ranks.begin_all_reduce(std::as_writable_bytes(std::span(values_)), DType::kF32);
    return;
  }
  encode();
  if (compression_.kind->sum_type) {
    request_ = ranks.begin_all_reduce(code_, *compression_.kind->sum_type);
  } else {
    all_.resize(code_.size() * static_cast<size_t>(ranks.size()));
    request_ = ranks.begin_all_gather(code_, all_);
  }
}

void Bucket::finish(Communicator& ranks) {
  ranks.wait(request_);
  if (!compression_.kind) return;
  std::fill(values_.begin(), values_.end(), 0.0F);
  const std::vector<std::byte>& codes = compression_.kind->sum_type ? code_ : all_;
  for (size_t at = 0; at < codes.size(); at += code_.size())  // the same order on all ranks
    compression_.kind->add(codes.data() + at, compression_.share, values_);
}

}  // namespace mlopt::train
