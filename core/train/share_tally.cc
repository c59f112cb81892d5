#include "core/train/share_tally.h"

#include <cstring>

namespace mlopt::train {
namespace {

/// Eight bytes each: the sums, then each map's size and its pairs.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::string text) : text_(std::move(text)) {}

  template <class T>
  void put(T value) {
    static_assert(sizeof(T) == 8);
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  T take() {
    T value;
    std::memcpy(&value, text_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  size_t at_ = 0;
};

constexpr std::map<int64_t, int64_t> Tally::*kCounts[] = {&Tally::true_positive, &Tally::predicted, &Tally::actual};

std::string packed(const Tally& tally) {
  Bytes bytes;
  bytes.put(tally.sum);
  bytes.put(tally.weight);
  bytes.put(tally.peak);
  bytes.put(tally.share_sum);
  bytes.put(tally.share_gap);
  for (const auto counts : kCounts) {
    bytes.put(static_cast<int64_t>((tally.*counts).size()));
    for (const auto& [label, count] : tally.*counts) {
      bytes.put(label);
      bytes.put(count);
    }
  }
  return bytes.text();
}

Tally unpacked(const std::string& text) {
  Bytes bytes(text);
  Tally tally;
  tally.sum = bytes.take<double>();
  tally.weight = bytes.take<double>();
  tally.peak = bytes.take<double>();
  tally.share_sum = bytes.take<double>();
  tally.share_gap = bytes.take<double>();
  for (const auto counts : kCounts)
    for (auto left = bytes.take<int64_t>(); left > 0; --left) {
      const auto label = bytes.take<int64_t>();
      (tally.*counts)[label] = bytes.take<int64_t>();
    }
  return tally;
}

}  // namespace

Tally share_tally(Communicator& ranks, const Tally& mine) {
  Tally all;
  for (const std::string& part : gather(ranks, packed(mine))) add(all, unpacked(part));
  return all;
}

}  // namespace mlopt::train
