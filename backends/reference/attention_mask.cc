#include "backends/reference/attention_mask.h"

#include <fmt/core.h>

#include <limits>

namespace mlopt::reference {
namespace {

template <class T>
Tensor as_bias(const Tensor& mask) {
  if (mask.dtype() != DType::kBool) return as(mask, dtype_of<T>());
  Tensor out(dtype_of<T>(), mask.dims());
  T* o = out.mutable_data<T>();
  const bool* keep = mask.data<bool>();
  for (int64_t i = 0; i < mask.size(); ++i) o[i] = keep[i] ? T{0} : -std::numeric_limits<T>::infinity();
  return out;
}

}  // namespace

template <class T>
AttentionMask<T>::AttentionMask(const Call& call, const Tensor& tensor, const Dims& full, bool extend)
    : values_(as_bias<T>(tensor)), queries_(full[2]), keys_(full[3]), width_(full[3]) {
  const Dims& own = tensor.dims();
  bool fits = !own.empty() && own.size() <= 4;
  int64_t step = 1;
  for (size_t i = 0; fits && i < own.size(); ++i) {
    const int64_t dim = own[own.size() - 1 - i], wanted = full[3 - i];
    if (i == 0 && extend && dim < wanted)
      width_ = dim;
    else
      fits = dim == wanted || dim == 1;
    steps_[3 - i] = dim == 1 ? 0 : step;
    step *= dim;
  }
  if (!fits) fail(call, fmt::format("a mask of shape {} does not broadcast to {}", to_string(own), to_string(full)));
}

template <class T>
void AttentionMask<T>::add(int64_t b, int64_t h, T* bias) const {
  const T* head = values_.template data<T>() + b * steps_[0] + h * steps_[1];
  for (int64_t i = 0; i < queries_; ++i) {
    const T* row = head + i * steps_[2];
    for (int64_t j = 0; j < keys_; ++j)
      bias[i * keys_ + j] += j < width_ ? row[j * steps_[3]] : -std::numeric_limits<T>::infinity();
  }
}

template class AttentionMask<float>;
template class AttentionMask<double>;

}  // namespace mlopt::reference
