#include "core/data/spread.h"

#include <algorithm>

#include "core/base/error.h"

namespace mlopt {
namespace {

class SpreadDataset final : public Dataset {
 public:
  SpreadDataset(const Dataset& data, int64_t samples) : data_(data), block_(std::max<int64_t>(1, data.batch_size())) {
    const int64_t whole = data.size() / block_;
    blocks_ = whole;
    shown_ = std::min(whole, std::max<int64_t>(1, samples / block_));
  }

  int64_t size() const override { return shown_ * block_; }
  int64_t batch_size() const override { return block_; }
  bool labelled() const override { return data_.labelled(); }
  std::string name_of(int64_t i) const override { return data_.name_of(place(i / block_) + i % block_); }

  Batch batch(int64_t first, int64_t count) const override {
    if (first < 0 || count != block_ || first % block_ != 0 || first + count > size())
      internal_error("a batch that the spread data do not have");
    return data_.batch(place(first / block_), block_);
  }

 private:
  /// The first sample of the view's block i.
  int64_t place(int64_t i) const { return i * blocks_ / shown_ * block_; }

  const Dataset& data_;
  int64_t block_, blocks_ = 0, shown_ = 0;
};

}  // namespace

std::unique_ptr<Dataset> spread(const Dataset& data, int64_t samples) {
  return std::make_unique<SpreadDataset>(data, samples);
}

}  // namespace mlopt
