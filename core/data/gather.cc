#include "core/data/gather.h"

#include <cstring>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/compare.h"

namespace mlopt {
namespace {

/// Tensors of one type and of one shape after the first axis, one behind the other.
Tensor joined(const std::vector<Tensor>& parts) {
  Dims dims = parts[0].dims();
  dims[0] = 0;
  for (const Tensor& part : parts) dims[0] += part.dims()[0];
  Tensor all(parts[0].dtype(), dims);
  std::byte* to = all.mutable_raw();
  for (const Tensor& part : parts) {
    std::memcpy(to, part.raw(), part.bytes());
    to += part.bytes();
  }
  return all;
}

}  // namespace

void require_same_setting(const Tensor& value, const Tensor& expected, const std::string& sample) {
  if (const auto difference = mismatch(value, expected, 0, 0))
    input_error("an input without axes is not the same in all samples: " + *difference, sample,
                "give data with one value of it (of random data: --range NAME=A:A)");
}

Batch gather(const Dataset& data, std::span<const int64_t> which) {
  std::vector<std::vector<Tensor>> columns;
  std::vector<Tensor> labels;
  for (const int64_t i : which) {
    const Batch one = data.batch(i, 1);
    columns.resize(one.inputs.size());
    for (size_t k = 0; k < columns.size(); ++k) {
      const Tensor& value = one.inputs[k].tensor();
      const bool setting = value.rank() == 0 && !columns[k].empty();
      if (setting)
        require_same_setting(value, columns[k][0], data.name_of(i));
      else
        columns[k].push_back(value);
    }
    if (one.labels) labels.push_back(*one.labels);
  }
  Batch all;
  all.count = static_cast<int64_t>(which.size());
  for (const std::vector<Tensor>& column : columns)
    all.inputs.emplace_back(column[0].rank() == 0 ? column[0] : joined(column));
  if (!labels.empty()) all.labels = joined(labels);
  return all;
}

}  // namespace mlopt
