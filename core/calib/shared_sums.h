#pragma once
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace mlopt {

/// Numbers that copies share until one of them is changed: layers that read the same value have the same products.
class SharedSums {
 public:
  SharedSums() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  SharedSums(std::vector<float> values) : values_(std::make_shared<std::vector<float>>(std::move(values))) {}

  size_t size() const { return values_ ? values_->size() : 0; }
  const float* data() const { return values_ ? values_->data() : nullptr; }
  float operator[](size_t i) const { return (*values_)[i]; }
  /// To be changed; those of no copy.
  std::vector<float>& own() {
    if (!values_)
      values_ = std::make_shared<std::vector<float>>();
    else if (values_.use_count() > 1)
      values_ = std::make_shared<std::vector<float>>(*values_);
    return *values_;
  }
  bool shares_with(const SharedSums& other) const { return values_ == other.values_; }
  friend bool operator==(const SharedSums& a, const SharedSums& b) {
    return a.values_ == b.values_ || (a.values_ && b.values_ && *a.values_ == *b.values_);
  }

 private:
  std::shared_ptr<std::vector<float>> values_;
};

}  // namespace mlopt
