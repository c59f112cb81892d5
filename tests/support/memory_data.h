#pragma once
#include <cstring>
#include <string>

#include "core/data/dataset.h"

namespace mlopt::test {

/// Samples in memory: row i of `inputs` and of `labels`.
class MemoryData : public Dataset {
 public:
  MemoryData(Tensor inputs, std::optional<Tensor> labels) : inputs_(std::move(inputs)), labels_(std::move(labels)) {}

  int64_t size() const override { return inputs_.dims()[0]; }
  int64_t batch_size() const override { return 0; }
  bool labelled() const override { return labels_.has_value(); }
  std::string name_of(int64_t i) const override { return "sample " + std::to_string(i); }
  Batch batch(int64_t first, int64_t count) const override {
    Batch batch{{rows(inputs_, first, count)}, {}, count};
    if (labels_) batch.labels = rows(*labels_, first, count);
    return batch;
  }

 private:
  static Tensor rows(const Tensor& all, int64_t first, int64_t count) {
    Dims dims = all.dims();
    const size_t row = all.bytes() / static_cast<size_t>(dims[0]);
    dims[0] = count;
    Tensor part(all.dtype(), dims);
    std::memcpy(part.mutable_raw(), all.raw() + static_cast<size_t>(first) * row, part.bytes());
    return part;
  }

  Tensor inputs_;
  std::optional<Tensor> labels_;
};

}  // namespace mlopt::test
