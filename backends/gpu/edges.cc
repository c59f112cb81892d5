#include "backends/gpu/edges.h"

#include <algorithm>
#include <cstring>

#include "core/base/align.h"
#include "core/base/error.h"

namespace mlopt::gpu {
namespace {

constexpr size_t kMost = size_t{64} << 20;  // memory that cannot be swapped is short
constexpr size_t kPiece = size_t{1} << 20;  // the device copies one while the next is put in place

}  // namespace

Edges::Edges(Device device, std::span<const size_t> sizes) {
  size_t all = 0;
  for (const size_t bytes : sizes) {
    const size_t end = all + aligned_size(bytes);
    places_.push_back({bytes, all, bytes > 0 && bytes <= kMost && end <= kMost});
    if (places_.back().staged) all = end;
  }
  if (all == 0) return;
  try {
    memory_ = HostMemory(device, all);
  } catch (const Error&) {
    for (Place& place : places_) place.staged = false;
  }
}

void Edges::bring(size_t i, std::byte* to, const std::byte* from, WorkQueue& queue) {
  const Place& place = places_[i];
  if (!place.staged) return queue.transfer(to, from, place.bytes);
  std::byte* staged = memory_.at() + place.offset;
  for (size_t at = 0; at < place.bytes; at += kPiece) {
    const size_t bytes = std::min(kPiece, place.bytes - at);
    std::memcpy(staged + at, from + at, bytes);
    queue.transfer(to + at, staged + at, bytes);
  }
}

void Edges::begin_fetch(size_t i, std::byte* to, const std::byte* from, WorkQueue& queue) {
  const Place& place = places_[i];
  queue.transfer(place.staged ? memory_.at() + place.offset : to, from, place.bytes);
}

void Edges::finish(size_t i, std::byte* to) const {
  const Place& place = places_[i];
  if (place.staged) std::memcpy(to, memory_.at() + place.offset, place.bytes);
}

}  // namespace mlopt::gpu
